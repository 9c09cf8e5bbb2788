"""Messages of a reader → entries, in an order and pairing that every target takes.

Calls that ran in parallel come first, then their results in the same order; each call has exactly
one result; ids are unique. What a target's own limits ask for comes later (`fit`).
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from ultracontext.formats import Entry, Image, LossKind
from ultracontext.model import Message, Tool
from ultracontext.switch import notes
from ultracontext.switch.session import MaskedSession

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_YEAR, LAST_YEAR = 1990, 2200


@dataclass(slots=True)
class Drawn:
    """Entries, and what was lost on the way."""

    entries: list[Entry] = field(default_factory=list)
    lost: Counter[LossKind] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a person asked for."""

    full: bool = False
    thinking: bool = False
    """Thoughts as text."""
    proofs: bool = False
    """Whether thoughts with a proof go to the same agent."""


def draw(session: MaskedSession, wanted: Wanted) -> Drawn:
    """All entries of a session, in order."""
    chosen = session.whole if wanted.full else _with_waiting(session)
    drawn = Drawn()
    drawn.lost["compacted"] = 0 if wanted.full else _compacted(session, chosen)
    results = _results(chosen)
    batch: list[Message] = []
    closing = False
    for message in chosen:
        if message.kind == "tool_call":
            if closing:
                _flush(session, batch, results, drawn)
            closing = False
            batch.append(message)
        elif message.kind == "tool_result":
            closing = True
        else:
            entry = _entry(session, message, wanted, drawn)
            if entry is not None:
                _flush(session, batch, results, drawn)
                closing = False
                drawn.entries.append(entry)
    _flush(session, batch, results, drawn)
    drawn.lost["orphan"] += sum(map(len, results.values()))
    return drawn


def _with_waiting(session: MaskedSession) -> list[Message]:
    """What the model would get, and the prompts that it never got: an error came in between, for
    which some agents take the prompt back."""
    kept = {message.id for message in session.live}
    waiting: list[Message] = []
    for message in reversed(session.messages):
        if message.kind == "user" and message.id not in kept and "branch" not in message.metadata:
            waiting.insert(0, message)
        elif message.kind not in ("system", "meta"):
            break
    return [*session.live, *waiting]


def _compacted(session: MaskedSession, chosen: list[Message]) -> int:
    """Messages that a compaction took out of what the model gets."""
    kept = {message.id for message in chosen}
    said = ("user", "assistant", "tool_call", "tool_result")
    return sum(m.kind in said and m.id not in kept for m in session.whole)


def _entry(session: MaskedSession, message: Message, wanted: Wanted, drawn: Drawn) -> Entry | None:
    time = moment(message.timestamp)
    if message.kind == "reasoning":
        return _thought(session, message, wanted, drawn)
    if session.summarises(message):
        text = notes.summary(message.text)
        return Entry(kind="user", text=text, timestamp=time, note=True, source_id=message.id)
    if message.kind not in ("user", "assistant"):
        drawn.lost["system"] += 1
        return None
    images, text = _pictures(session, message, message.text)
    if not text.strip() and not images:
        return None
    if message.kind == "assistant":
        drawn.lost["image"] += len(images)
        return Entry(kind="assistant", text=message.text, timestamp=time, source_id=message.id)
    return Entry(kind="user", text=text, timestamp=time, images=images, source_id=message.id)


def _thought(
    session: MaskedSession, message: Message, wanted: Wanted, drawn: Drawn
) -> Entry | None:
    time = moment(message.timestamp)
    native = session.extras(message).native if wanted.proofs else None
    if native is not None:
        return Entry(
            kind="reasoning", text=message.text, timestamp=time, native=native,
            source_id=message.id,
        )  # fmt: skip
    drawn.lost["thinking"] += 1
    if not wanted.thinking or not message.text.strip():
        return None
    text = f"<thinking>\n{message.text}\n</thinking>"
    return Entry(kind="assistant", text=text, timestamp=time, source_id=message.id)


def _pictures(session: MaskedSession, message: Message, text: str) -> tuple[tuple[Image, ...], str]:
    """The pictures that are there with their bytes, and the text without their notes."""
    if not _tells(message):
        return (), text
    images = session.extras(message).images
    for image in images:
        place = text.find(image.note)
        if image.note and place >= 0:
            end = place + len(image.note)
            before, after = text[:place], text[end:]
            if after.startswith("\n"):
                after = after[1:]
            elif before.endswith("\n"):
                before = before[:-1]
            text = before + after
    return images, text


def _tells(message: Message) -> bool:
    return (
        "media" in message.metadata
        or "attachments" in message.metadata
        or (message.kind == "tool_result" and "[" in message.text)
    )


def _results(messages: Iterable[Message]) -> dict[str, deque[Message]]:
    """Results that wait for their calls, by id; calls without an id pair by order."""
    found: dict[str, deque[Message]] = defaultdict(deque)
    for message in messages:
        if message.kind == "tool_result" and message.tool is not None:
            found[message.tool.call_id].append(message)
    return found


def _flush(
    session: MaskedSession,
    batch: list[Message],
    results: Mapping[str, deque[Message]],
    drawn: Drawn,
) -> None:
    """The calls of a batch, then their results."""
    answers: list[Entry] = []
    for message in batch:
        tool = message.tool or Tool()
        time = moment(message.timestamp)
        name = tool.name or "tool"
        drawn.entries.append(
            Entry(
                kind="tool_call", timestamp=time, name=name, call_id=tool.call_id,
                input=as_object(tool.input), source_id=message.id,
            )
        )  # fmt: skip
        waiting = results.get(tool.call_id)
        result = waiting.popleft() if waiting else None
        answers.append(_answer(session, message, result, drawn))
    drawn.entries += answers
    batch.clear()


def _answer(session: MaskedSession, call: Message, result: Message | None, drawn: Drawn) -> Entry:
    tool = call.tool or Tool()
    name = tool.name or "tool"
    if result is not None and result.tool is not None:
        images, text = _pictures(session, result, output_text(result))
        return Entry(
            kind="tool_result", text=text, timestamp=moment(result.timestamp), name=name,
            call_id=tool.call_id, is_error=result.tool.is_error is True, images=images,
            source_id=result.id,
        )  # fmt: skip
    if tool.output is not None:  # a call that tells its own output
        text = tool.output if isinstance(tool.output, str) else _plain(tool.output)
        return Entry(
            kind="tool_result", text=text, timestamp=moment(call.timestamp), name=name,
            call_id=tool.call_id, is_error=tool.is_error is True, source_id=call.id,
        )  # fmt: skip
    drawn.lost["orphan"] += 1
    return Entry(
        kind="tool_result", text=notes.NO_RESULT, timestamp=moment(call.timestamp), name=name,
        call_id=tool.call_id, is_error=True, synthetic=True, source_id=call.id,
    )  # fmt: skip


def output_text(result: Message) -> str:
    """A result's output as text: as it is where it is one."""
    output = result.tool.output if result.tool is not None else None
    return output if isinstance(output, str) else result.text


def _plain(value: Any) -> str:
    import orjson

    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError):
        return str(value)


def as_object(given: Any) -> Mapping[str, Any]:
    """A call's input as an object: raw text and lists under the key `input`."""
    if isinstance(given, Mapping):
        return given
    return {} if given is None else {"input": given}


def moment(text: str | None) -> datetime:
    """A record's time in whole milliseconds; EPOCH for none (`spread` puts it right)."""
    if not text:
        return EPOCH
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return EPOCH
    try:
        parsed = parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except OverflowError:
        return EPOCH
    if not FIRST_YEAR <= parsed.year <= LAST_YEAR:
        return EPOCH
    return parsed.replace(microsecond=parsed.microsecond // 1000 * 1000)


def unique_ids(entries: Iterable[Entry]) -> Iterator[Entry]:
    """A call that repeats an id, or has none, gets a new one together with its result.

    Calls and results alternate as `draw` made them: all calls of a batch, then as many results.
    """
    used: set[str] = set()
    names: deque[str] = deque()
    for entry in entries:
        if entry.kind == "tool_call":
            name = _fresh(entry.call_id, used)
            names.append(name)
            yield entry if name == entry.call_id else replace(entry, call_id=name)
        elif entry.kind == "tool_result":
            name = names.popleft()
            yield entry if name == entry.call_id else replace(entry, call_id=name)
        else:
            yield entry


def _fresh(name: str, used: set[str]) -> str:
    base = name or "call"
    number, candidate = 1, base
    while candidate in used or not candidate:
        number += 1
        candidate = f"{base}_{number}"
    used.add(candidate)
    return candidate
