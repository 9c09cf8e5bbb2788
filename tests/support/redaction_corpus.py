"""Every secret format in every position, made at run time."""

from __future__ import annotations

import base64
import json
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ultracontext.model import RawRecord
from ultracontext.redaction.rules import load_rules
from ultracontext.redaction.sample import sample

FIXTURES = Path(__file__).parent.parent / "fixtures" / "redaction"


def raw(value: Any = None, *, data: bytes | None = None, **fields: Any) -> RawRecord:
    """A record of one JSON value, or of bytes."""
    if data is None:
        data = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    return RawRecord(
        agent="claude", source="/home/dev/s.jsonl", start=0, end=len(data) + 1, data=data, **fields
    )


def rows(name: str) -> list[dict[str, str]]:
    """Rows of a table of the fixtures by column."""
    lines = [
        line.split("\t")
        for line in (FIXTURES / name).read_text("utf-8").split("\n")
        if line and not line.startswith("#")
    ]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def secrets() -> Iterator[tuple[str, str, str]]:
    """(format, text with the secret, the end of the secret itself), of both tables."""
    rules = {rule.name: rule for rule in load_rules()}
    for row in rows("secret-formats.tsv"):
        text = (row["example_head"] + row["example_tail"]).replace("\\n", "\n")
        tail = row["example_tail"].replace("\\n", "\n").split("@")[0].strip('"')
        yield f"table:{row['id']}", text, tail.split("\n")[-2 if "END" in tail else -1][-10:]
    for rule in rules.values():
        text = sample(rule.sample)
        match = rule.regex.search(text.encode())
        assert match is not None, f"the sample of {rule.name} does not match its pattern"
        value = match[rule.group].decode()
        lines = [line for line in value.split("\n") if len(line) > 20 and "---" not in line]
        yield f"rule:{rule.name}", text, (lines or [value])[-1][-10:]


Position = Callable[[str], dict[str, Any] | bytes]

POSITIONS: dict[str, Position] = {
    "start": lambda s: {"text": s},
    "after-line-end": lambda s: {"text": f"a line\n{s}\nanother"},
    "prose": lambda s: {"text": f"I use {s} here"},
    "json-in-string": lambda s: {"text": json.dumps({"k": s, "z": 1})},
    "nested-twice": lambda s: {"text": json.dumps({"k": json.dumps({"z": s})})},
    "nested-thrice": lambda s: {"text": json.dumps({"k": json.dumps({"z": json.dumps([s])})})},
    "line-in-json-in-string": lambda s: {"text": json.dumps({"k": f"line\n{s}\nx"})},
    "base64": lambda s: {"text": "echo " + base64.b64encode(f"x {s}\n".encode()).decode()},
    "base64-url": lambda s: {"text": base64.urlsafe_b64encode(s.encode()).decode()},
    "percent": lambda s: {"text": "q=" + urllib.parse.quote(f"a {s}", safe="")},
    "object-key": lambda s: {"files": {s: {"size": 1}}},
    "path": lambda s: {"cwd": f"/home/u/{s} /x"},
    "tool-input": lambda s: {
        "message": {"content": [{"type": "tool_use", "input": {"command": f'echo "{s}"'}}]}
    },
    "tool-result": lambda s: {"toolUseResult": {"stdout": f"    12\t{s}\n    13\tx"}},
    "unparsable": lambda s: ('{"cut": "x ' + json.dumps(s)[1:-1]).encode(),
    "coloured": lambda s: {"text": f"\x1b[31m{s}\x1b[0m"},
    "title": lambda s: {"type": "summary", "summary": f"Rotate {s}"},
    "split-blocks": lambda s: {
        "message": {
            "content": [
                {"type": "text", "text": f"it is {s[: len(s) // 2]}"},
                {"type": "text", "text": f"{s[len(s) // 2 :]} here"},
            ]
        }
    },
}
"""What a record looks like that holds a text in this position."""


def record(position: str, text: str) -> RawRecord:
    made = POSITIONS[position](text)
    return raw(data=made) if isinstance(made, bytes) else raw(made)
