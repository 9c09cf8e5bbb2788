"""The switch matrix: sessions of every program, written for every program, opened by that.

A cell is one source session and one target program. What the source holds is asked of its agent's
reader alone, and looked for in the request that the target program sends to our model server; what
is not there, by kind, are the measured losses. The declared ones are what `switch` said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgspec
from real_agents import Request
from real_agents.conversation import Entry, strings
from recordings import Session, files, play, spec_of

from ultracontext.formats import LiveReader
from ultracontext.model import Message

PROMPT = "MATRIX-PROMPT: go on, please."

MASK = re.compile(r"\[redacted:[a-z0-9-]{1,40}(?::[0-9a-f]{8})?\]")
GUARD = "\u200b"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A recorded session."""

    agent: str
    version: str
    recording: str
    session_id: str

    @property
    def name(self) -> str:
        return f"{self.agent}-{self.version}"


SOURCES = (
    Source(
        agent="claude", version="2.1.332", recording="parallel-tools",
        session_id="4ef8320b-1f1d-44f8-ae84-4cbc72de9fe9",
    ),
    Source(
        agent="claude", version="2.0.77", recording="v2.0-tools-multi-turn",
        session_id="9767ee7c-f47e-4f41-b311-2c6f88b3a255",
    ),
    Source(
        agent="codex", version="0.171.0", recording="tools-shell-and-patch",
        session_id="01a22cd6-5a5f-7ba2-a884-2921da0ffb61",
    ),
    Source(
        agent="codex", version="0.125.0", recording="v0125-tools",
        session_id="01a22cd6-60a2-7c90-8607-d4b3be68a585",
    ),
    Source(
        agent="gemini", version="0.61.0", recording="tool-shell",
        session_id="8fb335ad-cb3e-4dbe-82eb-74701f851379",
    ),
    Source(
        agent="gemini", version="0.29.0", recording="v29-tools",
        session_id="5e90f960-2b51-45e9-95bf-26770f1a41ef",
    ),
    Source(
        agent="openclaw", version="2026.9.6", recording="v9-gateway",
        session_id="9763a903-d4b6-4d2f-a11b-eb4334e7f403",
    ),
    Source(
        agent="openclaw", version="2026.7.35", recording="v7-tools",
        session_id="9531985d-5d9d-49f8-9818-e811892f902b",
    ),
)  # fmt: skip
"""Two programs of each agent that can be a target; every one has calls, most have thoughts."""


class Cell(msgspec.Struct, kw_only=True):
    """What came of one cell."""

    source: str
    source_version: str
    target: str
    version: str
    seconds: float = 0.0
    declared: dict[str, int] = {}
    measured: dict[str, int] = {}
    missing: list[str] = []
    """What is neither in the request nor explained."""
    passed: bool = False


@cache
def recorded(source: Source) -> tuple[list[Message], list[Message]]:
    """(all messages, those that the model would get now) of a source."""
    played = play(source.agent, files(source.agent, source.recording))
    return _read(source.agent, played.sessions[source.session_id])


def _read(agent: str, session: Session) -> tuple[list[Message], list[Message]]:
    reader = spec_of(agent).reader(session.session_id or "")
    fed = [m for record, name in session.fed for m in reader.feed(record, name)]
    settled = reader.settle(fed)
    by_name: dict[str, Any] = {name: record for record, name in session.fed}
    live = settled
    if isinstance(reader, LiveReader):
        live = reader.live(settled, lambda name: by_name.get(name.partition(".")[0]))
    return settled, [message for message in live if message.kind != "meta"]


@dataclass(slots=True)
class Measure:
    """Losses by kind, and what is wrong beyond them."""

    lost: Counter[str] = field(default_factory=Counter)
    missing: list[str] = field(default_factory=list)


def measure(source: Source, request: Request, prompt: str = PROMPT) -> Measure:
    """Looks for everything that the source's model would get, in order, in what was sent."""
    settled, live = recorded(source)
    found = Measure()
    said = ("user", "assistant", "tool_call", "tool_result")
    kept = {message.id for message in live}
    found.lost["compacted"] = sum(m.kind in said and m.id not in kept for m in settled)
    _Search(request.before(prompt), found, _outputs(live)).all(live)
    found.lost += Counter()
    return found


def _outputs(messages: Sequence[Message]) -> dict[str, Message]:
    return {m.tool.call_id: m for m in messages if m.kind == "tool_result" and m.tool is not None}


class _Search:
    """One pass over the source, with a place in the request that only moves on."""

    def __init__(
        self, history: Sequence[Entry], found: Measure, outputs: dict[str, Message]
    ) -> None:
        self.history = history
        self.found = found
        self.outputs = outputs
        self.place = 0
        self.offset = 0
        self.least = 0
        """Where the last result stands: what is said next comes after it."""
        self.used: set[int] = set()

    def all(self, messages: Sequence[Message]) -> None:
        for message in messages:
            match message.kind:
                case "user" | "assistant":
                    self.text(message)
                case "tool_call":
                    self.call(message)
                case "reasoning":
                    self.thought(message)
                case "system":
                    self.found.lost["system"] += 1
                case _:
                    pass

    def text(self, message: Message) -> None:
        kinds = ("user",) if message.kind == "user" else ("assistant",)
        at = self.find(message.text, kinds, max(self.place, self.least))
        if at is None:
            self.found.missing.append(f"{message.kind}: {message.text[:60]!r}")
            return
        self.found.lost["mask"] += len(MASK.findall(message.text))
        if f"{GUARD}{message.text}" in self.history[at].text:
            self.found.lost["text_safety"] += 1

    def find(self, text: str, kinds: tuple[str, ...], start: int) -> int | None:
        """Moves on to the entry that holds the text, and behind the text in it."""
        for n in range(start, len(self.history)):
            entry = self.history[n]
            at = entry.text.find(text, self.offset if n == self.place else 0)
            if entry.kind in kinds and at >= 0:
                self.place, self.offset = n, at + len(text)
                return n
        return None

    def call(self, message: Message) -> None:
        tool = message.tool
        assert tool is not None
        wanted = [line for line in strings(tool.input).split("\n") if line.strip()]
        for n in range(self.place, len(self.history)):
            entry = self.history[n]
            if entry.kind == "tool_call" and n not in self.used and _holds(entry.text, wanted):
                self.used.add(n)
                self.found.lost["mask"] += len(MASK.findall(strings(tool.input)))
                if n > self.place:
                    self.place, self.offset = n, 0
                self.result(message, n)
                return
        self.told(message, wanted)

    def result(self, message: Message, place: int) -> None:
        """The result of the call at a place: behind it, under its id."""
        tool = message.tool
        assert tool is not None
        answer = self.outputs.get(tool.call_id)
        output = _output(message if answer is None else answer)
        name = self.history[place].call_id
        for n in range(place + 1, len(self.history)):
            entry = self.history[n]
            if entry.kind != "tool_result" or entry.call_id != name or n in self.used:
                continue
            self.used.add(n)
            self.least = max(self.least, n)
            if output is None:
                self.found.lost["orphan"] += 1
            elif output in entry.text:
                self.found.lost["mask"] += len(MASK.findall(output))
            elif output[:200] in entry.text and output[-200:] in entry.text:
                self.found.lost["tool_output_cut"] += 1
            else:
                self.found.missing.append(f"result of {tool.name}: {output[:60]!r}")
            return
        self.found.missing.append(f"result of {tool.name}: none")

    def told(self, message: Message, wanted: list[str]) -> None:
        """A call that is no call there: it and its result have to be told as text."""
        tool = message.tool
        assert tool is not None
        self.found.lost["tool"] += 1
        answer = self.outputs.get(tool.call_id)
        output = _output(message if answer is None else answer) or ""
        texts = [e.text for e in self.history[self.place :] if e.kind == "assistant"]
        if not any(tool.name in text and _holds(text, wanted) for text in texts):
            self.found.missing.append(f"call of {tool.name}, also not as text")
        elif not any(output in text for text in texts):
            self.found.missing.append(f"result of {tool.name}, also not as text")

    def thought(self, message: Message) -> None:
        """Kept where the program sends it as what it is."""
        kept = any(
            e.kind == "reasoning" and message.text.strip() and message.text.strip() in e.text
            for e in self.history[self.place :]
        )
        self.found.lost["thinking"] += not kept


def _output(message: Message) -> str | None:
    tool = message.tool
    assert tool is not None
    if tool.output is None:
        return None
    return tool.output if isinstance(tool.output, str) else message.text


def _holds(text: str, wanted: Sequence[str]) -> bool:
    """Every line is there, whatever the text escapes."""
    plain = text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
    return all(line in text or line in plain for line in wanted)


def cells() -> Iterator[tuple[Source, str]]:
    """(source, name of the target's program) of all cells, those of one target side by side."""
    from real_agents import PROGRAMS

    for program in PROGRAMS:
        for source in SOURCES:
            yield source, program.name
