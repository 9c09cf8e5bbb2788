"""The templates of the units, from a wheel and from a checkout alike; nobody else knows of both."""

from __future__ import annotations

from pathlib import Path

from ultracontext.errors import FatalError

SYSTEMD, HARDENING = "systemd/ultracontext.service.in", "systemd/hardening.conf.in"
LAUNCHD = "launchd/dev.ultracontext.daemon.plist.in"
_HERE = Path(__file__).resolve().parent


def template(name: str) -> str:
    """The text of `systemd/…` or `launchd/…`; raises FatalError for a broken installation."""
    for folder in (_HERE / "templates", _HERE.parents[2]):
        try:
            return (folder / name).read_text("utf-8")
        except (FileNotFoundError, NotADirectoryError):
            continue
    raise FatalError(
        f"the template {name} is missing in this installation",
        code="installation",
        hint="Install ultracontext-daemon again",
    )
