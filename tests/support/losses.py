"""What of a session does not arrive at the target's model, by kind: measured, not declared.

What the source holds is asked of its agent's reader alone, and looked for in the request that the
target's program sends to our model server.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from real_agents.conversation import Entry, strings

from ultracontext.model import Message
from ultracontext.switch.fit import safe_text

MASK = re.compile(r"\[redacted:([a-z0-9-]{1,40})(?::[0-9a-f]{8})?\]")
NOTE = re.compile(r"\n?\[image [a-z]+/[a-z0-9.+-]+, \d+ bytes\]\n?")
"""Stands for a picture in a text, where the picture itself is not carried."""
GUARD = "\u200b"


@dataclass(slots=True)
class Measure:
    """Losses by kind, and what is wrong beyond them."""

    lost: Counter[str] = field(default_factory=Counter)
    missing: list[str] = field(default_factory=list)


def measure(
    settled: Sequence[Message], live: Sequence[Message], history: Sequence[Entry]
) -> Measure:
    """Looks for all that the source's model would get now (`live`), in order, in what was sent."""
    found = Measure()
    said = ("user", "assistant", "tool_call", "tool_result")
    kept = {message.id for message in live}
    found.lost["compacted"] = sum(m.kind in said and m.id not in kept for m in settled)
    plain = [replace(entry, text=unprinted(entry.text)) for entry in history]
    _Search(plain, found, _outputs(live)).all(live)
    found.lost += Counter()
    return found


def unprinted(text: str) -> str:
    """Masks without their fingerprints: these differ from installation to installation."""
    return MASK.sub(r"[redacted:\1]", text)


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
        safe = safe_text(message.text) or ""
        notes = [note.strip() for note in NOTE.findall(safe)]
        text = unprinted(NOTE.sub("", safe))
        at = self.find(text, kinds, max(self.place, self.least))
        if at is None:
            self.found.missing.append(f"{message.kind}: {message.text[:60]!r}")
            return
        self.found.lost["mask"] += len(MASK.findall(message.text))
        self.found.lost["text_safety"] += safe != message.text
        told = " ".join(entry.text for entry in self.history)
        self.found.lost["image"] += sum(note in told for note in notes)
        self.found.lost["text_safety"] += f"{GUARD}{text}" in self.history[at].text

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
        wanted = [line for line in unprinted(strings(tool.input)).split("\n") if line.strip()]
        for n in range(self.place, len(self.history)):
            entry = self.history[n]
            if entry.kind == "tool_call" and n not in self.used and _holds(entry.text, wanted):
                self.used.add(n)
                self.found.lost["mask"] += len(MASK.findall(strings(tool.input)))
                self.found.lost["tool"] += entry.name != tool.name
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
        output = unprinted_or_none(_output(message if answer is None else answer))
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
        output = unprinted_or_none(_output(message if answer is None else answer))
        self.found.lost["orphan"] += output is None
        texts = [e.text for e in self.history[self.place :] if e.kind == "assistant"]
        if not any(tool.name in text and _holds(text, wanted) for text in texts):
            self.found.missing.append(f"call of {tool.name}, also not as text")
        elif not any((output or "") in text for text in texts):
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


def unprinted_or_none(text: str | None) -> str | None:
    return None if text is None else unprinted(text)


def _holds(text: str, wanted: Sequence[str]) -> bool:
    """Every line is there, whatever the text escapes."""
    plain = text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
    return all(line in text or line in plain for line in wanted)
