"""The other side of `large`: masks one range of one file and ends.

It is the only program that the daemon starts. It prints nothing but its answer, which is masked.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from ultracontext.errors import RedactionError, SettingsError
from ultracontext.model import RawRecord
from ultracontext.redaction.frames import Frame
from ultracontext.redaction.large import OTHER_RULES, Masked, order_of, write_answer
from ultracontext.redaction.loading import redactor_of

MEMORY_BYTES = 6 << 30


def main() -> int:
    """Reads an order from standard input, writes the answer to standard output."""
    _limit_memory()
    order = order_of(sys.stdin.buffer.read())
    try:
        redactor = redactor_of(order, order["secret"])
    except (RedactionError, SettingsError, OSError, ImportError, ValueError):
        return OTHER_RULES
    if redactor is None:
        return OTHER_RULES
    record = redactor.redact(_raw(order), Frame.of(order["frame"]))
    if record.native is None:
        return 4
    answer = Masked(
        body=record.body,
        parts=tuple(part.compressed() for part in record.parts),
        masks=record.masks,
        digest=record.digest,
        frame=None if record.frame is None else record.frame.state(),
        noted=tuple(redactor.scanner.fingerprints.drain()),
    )
    write_answer(sys.stdout.buffer, answer)
    return 0


def _raw(order: dict[str, Any]) -> RawRecord:
    start, end = order["start"], order["end"]
    with Path(order["path"]).open("rb") as file:
        file.seek(start)
        data = file.read(end - start)
    if len(data) != end - start:
        raise OSError("the file is shorter now")
    return RawRecord(agent="", source="", start=start, end=end, data=data.removesuffix(b"\n"))


def _limit_memory() -> None:
    """A record that would need more than this is left out rather than taking the machine along."""
    if os.name == "posix" and sys.platform != "darwin":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


if __name__ == "__main__":
    sys.exit(main())
