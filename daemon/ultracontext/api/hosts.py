"""The check of `Host`: a page on another site must not reach a server on loopback by DNS tricks.

Plain addresses pass, since such a trick needs a name; of names only those that were allowed.
"""

from __future__ import annotations

import re
import socket
from ipaddress import ip_address

from ultracontext.api.options import Options

_SHAPE = re.compile(r"(\[[0-9A-Za-z:.%]+\]|[^:\[\]/@\s]+)(?::\d{1,5})?", re.ASCII)


class Hosts:
    """Which values of `Host` are answered."""

    def __init__(self, options: Options) -> None:
        names = {"localhost", options.host, *options.allowed_hosts}
        if not options.on_loopback:
            names |= {socket.gethostname(), socket.getfqdn()}
        self._names = {name.lower().rstrip(".") for name in names if name}

    def allows(self, header: str | None) -> bool:
        """HTTP/1.0 needs no header; a browser always sends one."""
        if header is None:
            return True
        found = _SHAPE.fullmatch(header.strip())
        if found is None:
            return False
        name = found[1].lower().strip("[]").rstrip(".")
        return name in self._names or _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True
