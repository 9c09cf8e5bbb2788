"""Tool outputs that 2.1 keeps in files of their own.

The record holds `<persisted-output>`, a line that ends in `saved to: PATH`, and a preview (a run of
2.1.332, 2026-11: 106 kB spilled, preview of 2 kB).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ultracontext.agents.claude.values import identifier, mapping
from ultracontext.formats import Need

OPENING = "<persisted-output>"
_PATH = re.compile(r"\s*<persisted-output>\s*[^\n]{0,400}?saved to: ([^\n]{1,4096})")


def needs(native: dict[str, Any]) -> Iterator[Need]:
    """The files that hold the outputs of this record's tool results."""
    content = mapping(native.get("message")).get("content")
    if type(content) is not list:
        return
    for block in content:
        if type(block) is dict and block.get("type") == "tool_result":
            path = spilled(block.get("content"))
            call_id = identifier(block.get("tool_use_id"))
            if path is not None and call_id is not None:
                yield Need(name=companion(call_id), path=path)


def companion(call_id: str) -> str:
    """Under which name capture hands the file's text over."""
    return f"tool-result:{call_id}"


def spilled(content: Any) -> str | None:
    """Path of the file that holds the whole output; None for an output that is here."""
    if type(content) is list and len(content) == 1:
        content = mapping(content[0]).get("text")
    if type(content) is not str or OPENING not in content[:64]:
        return None
    found = _PATH.match(content)
    return found[1].strip() if found else None
