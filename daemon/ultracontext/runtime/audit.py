"""`state/audit.jsonl`: what a person should be able to look up later, one JSON object a line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ultracontext.errors import FatalError
from ultracontext.paths import Paths

REDACTION_OFF, REDACTION_ON = "redaction-off", "redaction-on"


def record(paths: Paths, action: str, **facts: Any) -> None:
    """Adds one line, on disk when it returns. Raises FatalError when that cannot be done."""
    entry = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "action": action, **facts}
    line = (json.dumps(entry) + "\n").encode()
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(paths.audit_file, flags, 0o600)
        try:
            os.write(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FatalError(
            f"the audit log {paths.audit_file} cannot be written: {reason}",
            code="audit",
            hint="Make it writable; nothing is captured unmasked without it",
        ) from error


def entries(paths: Paths) -> Iterator[dict[str, Any]]:
    """Oldest first; lines that are torn are left out."""
    try:
        lines = paths.audit_file.read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found


def note_redaction(paths: Paths, *, enabled: bool, origin: str, pid: int) -> None:
    """Every start without masking, and the first with it again."""
    if not enabled:
        record(paths, REDACTION_OFF, origin=origin, pid=pid)
        return
    last = None
    for entry in entries(paths):
        if entry.get("action") in (REDACTION_OFF, REDACTION_ON):
            last = entry["action"]
    if last == REDACTION_OFF:
        record(paths, REDACTION_ON, pid=pid)
