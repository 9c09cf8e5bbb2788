"""What a model is asked and answers, in words of no vendor."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["user", "assistant", "reasoning", "tool_call", "tool_result", "system"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that a request holds, in the order in which it stands there."""

    kind: Kind
    text: str
    """Of a call: its name and every string of its input; of a result: its output."""
    name: str | None = None
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call that the model makes."""

    id: str
    name: str
    input: dict[str, Any]


class Hold:
    """Keeps an answer back while a test looks at the store."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        """The program has sent the request and waits."""
        self.released = threading.Event()

    def release(self) -> None:
        self.released.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One answer of the model; a turn is steps with calls and then one without."""

    text: str = ""
    call: Call | None = None
    hold: Hold | None = None


@dataclass(kw_only=True)
class Script:
    """The steps that answer a prompt, chosen by what the request holds and not by its number.

    So a repeated request gets the same answer again, and a resumed session goes on.
    """

    turns: dict[str, Sequence[Step]] = field(default_factory=dict)

    def step(self, entries: Sequence[Entry]) -> Step | None:
        """What answers the prompt that stands last; None when no prompt is known."""
        found = [(at, p) for p in self.turns if (at := last_place(entries, p)) is not None]
        if not found:
            return None
        at, prompt = max(found)
        steps = self.turns[prompt]
        return steps[min(answers(entries[at + 1 :]), len(steps) - 1)]


def last_place(entries: Sequence[Entry], prompt: str) -> int | None:
    places = [n for n, e in enumerate(entries) if e.kind == "user" and prompt in e.text]
    return places[-1] if places else None


def answers(entries: Iterable[Entry]) -> int:
    """How many answers of the model stand there: runs of what it said, thought and called."""
    count, inside = 0, False
    for entry in entries:
        if entry.kind == "system":
            continue
        mine = entry.kind in ("assistant", "reasoning", "tool_call")
        count += mine and not inside
        inside = mine
    return count


def missing(entries: Sequence[Entry], texts: Iterable[str]) -> list[str]:
    """Those of the texts that the entries do not hold, or not in this order."""
    lost, place, offset = [], 0, 0
    for text in texts:
        for n in range(place, len(entries)):
            at = entries[n].text.find(text, offset if n == place else 0)
            if at >= 0:
                place, offset = n, at + len(text)
                break
        else:
            lost.append(text)
    return lost


def strings(value: object) -> str:
    """All strings in a JSON value, JSON within strings opened too, one a line."""
    if isinstance(value, str):
        inner = opened(value)
        return value if inner is None else f"{value}\n{strings(inner)}"
    if isinstance(value, dict):
        return "\n".join(strings(v) for v in value.values())
    if isinstance(value, list):
        return "\n".join(strings(v) for v in value)
    return "" if value is None else str(value)


def opened(text: str) -> object:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None
