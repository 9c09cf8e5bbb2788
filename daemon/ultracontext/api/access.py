"""The access log: one JSON line a request, without bodies, queries and ids."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ultracontext.logs import RotatingFile

MOST_ID = 64


class AccessLog:
    """Writes to a rotating file, or nowhere."""

    def __init__(self, path: Path | None) -> None:
        self._file = None if path is None else RotatingFile(path)

    def write(self, fields: Mapping[str, Any]) -> None:
        if self._file is not None:
            self._file(fields)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def request_id(given: str | None) -> str:
    """The caller's `X-Request-Id` where it is plain, else one of ours."""
    if given and len(given) <= MOST_ID and given.isascii() and given.isprintable():
        return given
    return secrets.token_hex(8)
