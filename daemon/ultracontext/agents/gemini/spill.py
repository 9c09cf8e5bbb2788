"""Tool outputs that the program keeps in files of their own.

Above about 40,000 characters the record holds the beginning and the end, and the line
`For full output see: PATH`, PATH being `tmp/PROJECT/tool-outputs/session-ID/TOOL_CALL.txt` (a run
of 0.61.0, 2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ultracontext.agents.gemini.parts import flat
from ultracontext.agents.gemini.values import identifier, listing, mapping
from ultracontext.formats import Need

FOLDER = "tool-outputs"
_PATH = re.compile(r"For full output see: [^\n]{0,4096}?(tool-outputs[/\\][^\n]{1,1024}?\.txt)\b")
_OPENING_CHARACTERS = 5000


def needs(native: dict[str, Any], up: str) -> Iterator[Need]:
    """The files that hold the outputs of a message's calls. `up` leads to the project's folder."""
    for call in listing(native.get("toolCalls")):
        if type(call) is dict:
            path = spilled(call.get("result"))
            name = identifier(call.get("id"))
            if path is not None and name is not None:
                yield Need(name=companion(name), path=up + path)


def companion(call_id: str) -> str:
    """Under which name capture hands the file's text over."""
    return f"tool-output:{call_id}"


def spilled(result: Any) -> str | None:
    """Path, below the project's folder, of the file that holds the whole output."""
    parts = result if type(result) is list else [result]
    for part in parts[:1]:
        answer = mapping(mapping(mapping(part).get("functionResponse")).get("response"))
        text = answer.get("output")
        opening = flat(text)[:_OPENING_CHARACTERS] if type(text) is str else ""
        found = _PATH.search(opening)
        if found is not None:
            path = found[1].replace("\\", "/")
            return None if "/.." in path else path
    return None
