"""Where a session was wound back, and where it was compacted.

A rewind shows by the next prompt: its `parentUuid` is a record before the last prompt (2.1.332; the
program keeps what it left in the file). A compaction is a `system`/`compact_boundary`.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from ultracontext.agents.claude.values import identifier, mapping
from ultracontext.formats import Beginning

KEPT = 8
"""Records since the last prompt that are remembered: one of them is nearly always the parent of the
next. Of others the store knows where they stand."""


class Branches:
    """Follows the chain records of one file."""

    __slots__ = ("_prompt", "_recent")

    def __init__(self, saved: Mapping[str, Any]) -> None:
        self._prompt = identifier(saved.get("prompt"))
        recent = saved.get("recent")
        self._recent = [str(key) for key in recent] if type(recent) is list else []

    def next(self, native: dict[str, Any], uuid: str) -> Beginning | None:
        """The version that begins with a record, if one does."""
        begins = None
        if native.get("type") == "system" and native.get("subtype") == "compact_boundary":
            begins = Beginning(cause="compaction")
        elif _typed(native):
            begins = self._rewound(native)
            self._prompt, self._recent = uuid, []
        self._recent.append(_key(uuid))
        del self._recent[:-KEPT]
        return begins

    def _rewound(self, native: dict[str, Any]) -> Beginning | None:
        if self._prompt is None or "parentUuid" not in native:
            return None
        parent = identifier(native["parentUuid"])
        if parent is None:
            return Beginning(cause="rewind") if native["parentUuid"] is None else None
        if _key(parent) in self._recent:
            return None
        return Beginning(cause="rewind", after=parent, unless_behind=self._prompt)

    def state(self) -> dict[str, Any]:
        return {"prompt": self._prompt, "recent": list(self._recent)} if self._recent else {}


def _key(uuid: str) -> str:
    return blake2b(uuid.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()


def _typed(native: dict[str, Any]) -> bool:
    """Whether a record may be a prompt; results, summaries and what the program says are none."""
    if native.get("type") != "user" or native.get("isMeta") is True:
        return False
    if native.get("isCompactSummary") is True or "toolUseResult" in native:
        return False
    content = mapping(native.get("message")).get("content")
    if type(content) is not list:
        return type(content) is str
    return not any(mapping(block).get("type") == "tool_result" for block in content)
