"""Where Claude Code keeps its sessions.

Below `$CLAUDE_CONFIG_DIR`, else `~/.claude` (runs of 1.0.128, 2.0.77 and 2.1.332):

    projects/SLUG/SESSION.jsonl                        a session
    projects/SLUG/SESSION/subagents/agent-ID.jsonl     a sub-agent (2.1)
    projects/SLUG/agent-ID.jsonl                       a sub-agent (2.0)
    projects/SLUG/SESSION/tool-results/*.txt           spilled outputs: companions, no sources
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath, PurePosixPath

from ultracontext.formats import Engine, SourceFacts

UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

SUFFIX = ".jsonl"
AGENT = "agent-"
LONGEST_SLUG = 200
"""Characters; 2.1 cuts there and adds a hash, 2.0 and 1.0 never cut."""

_OUTSIDE = re.compile(r"[^A-Za-z0-9]")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def roots(environment: Mapping[str, str], home: PurePath) -> Sequence[PurePath]:
    """The one folder that the program would use itself."""
    configured = environment.get("CLAUDE_CONFIG_DIR")
    return [type(home)(configured)] if configured else [home / ".claude"]


def classify(path: PurePosixPath) -> SourceFacts | None:
    """What lies at a path relative to a root; None for all that is no session file."""
    parts = path.parts
    if len(parts) < 3 or parts[0] != "projects":
        return None
    name = parts[-1]
    if not name.endswith(SUFFIX) or name.startswith(".") or name == SUFFIX:
        return None
    stem = name[: -len(SUFFIX)]
    if len(parts) == 3:
        return _beside(stem)
    if len(parts) == 5 and parts[3] == "subagents" and stem.startswith(AGENT):
        return _subagent(stem, parent=parts[2])
    return None


def _beside(stem: str) -> SourceFacts:
    if stem.startswith(AGENT):
        return _subagent(stem, parent=None)
    return SourceFacts(engine=Engine.APPEND_LOG, session_hint=stem)


def _subagent(stem: str, parent: str | None) -> SourceFacts:
    return SourceFacts(
        engine=Engine.APPEND_LOG,
        role="subagent",
        session_hint=stem[len(AGENT) :],
        parent_hint=parent,
    )


def slug(cwd: str) -> str:
    """Name of the folder below `projects` for sessions started in `cwd`, as 2.1 makes it.

    Each UTF-16 code unit outside `[A-Za-z0-9]` becomes one dash, so different folders can share a
    slug. More than 200 characters: the first 200, a dash, and the hash of the path as it was.
    """
    text = _OUTSIDE.sub(lambda found: "--" if found.group() > "\uffff" else "-", cwd)
    if len(text) <= LONGEST_SLUG:
        return text
    return f"{text[:LONGEST_SLUG]}-{_hash(cwd)}"


def _hash(text: str) -> str:
    """`h = h * 31 + code unit` in signed 32 bits, absolute value, base 36."""
    total = 0
    units = text.encode("utf-16-le", "surrogatepass")
    for low, high in zip(units[::2], units[1::2], strict=True):
        total = (total * 31 + low + (high << 8)) & 0xFFFFFFFF
    if total >= 1 << 31:
        total = (1 << 32) - total
    return _base36(total)


def _base36(number: int) -> str:
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
        if number == 0:
            return digits
