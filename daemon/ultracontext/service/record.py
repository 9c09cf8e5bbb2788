"""What an installation did, so that uninstalling undoes that and nothing else."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import msgspec

from ultracontext.errors import UltraContextError, WriteRefusedError

MARK = "Made by `ultracontext service install`"


class Record(msgspec.Struct, kw_only=True):
    """`state/service.json`"""

    kind: str
    """`systemd`, `launchd` or `autostart`."""
    files: list[str] = []
    linger: bool = False
    """Whether lingering was switched on by us."""
    plain: bool = False
    """Without the drop-in of mounts, because the service did not start with it."""


def load(file: Path) -> Record | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=Record)
    except (OSError, msgspec.MsgspecError):
        return None


def save(file: Path, record: Record) -> None:
    write(file, msgspec.json.encode(record) + b"\n", ours=True)


def write(file: Path, data: bytes, *, ours: bool = False) -> bool:
    """Writes a file as a whole, mode 0600; False when it was so already.

    Raises WriteRefusedError for a file of somebody else, unless `ours` says that it cannot be."""
    try:
        before = file.read_bytes() if file.exists() else None
        if before == data:
            return False
        if before is not None and not ours and not is_ours(before):
            raise WriteRefusedError(
                f"{file} is there already and is not ours", hint="Move it away and try again"
            )
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".ultracontext-", dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(data)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UltraContextError(
            f"cannot write {file}: {error.strerror or type(error).__name__}",
            hint="Make its folder writable",
            code="service-write",
        ) from error
    return True


def is_ours(data: bytes) -> bool:
    return MARK.encode() in data or b"dev.ultracontext.daemon" in data


def remove(file: Path) -> bool:
    """Removes a file that we made; False when it is not there or not ours."""
    try:
        if not is_ours(file.read_bytes()):
            return False
        file.unlink()
    except OSError:
        return False
    return True
