"""Makes a session fit for a target: what `formats.writing` promises a writer is done here."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from ultracontext.formats import (
    Conversation,
    Entry,
    Limits,
    Loss,
    LossKind,
    Origin,
    Turn,
)
from ultracontext.formats.writing import losses
from ultracontext.model import SessionFacts
from ultracontext.redaction import dump_json
from ultracontext.switch import notes
from ultracontext.switch.entries import EPOCH, Wanted, draw, unique_ids
from ultracontext.switch.images import limited
from ultracontext.switch.session import MaskedSession

CHARS_A_TOKEN = 4
LONGEST_PENDING = 16_000
"""Characters of an unanswered prompt that a command line takes; a longer one stays text."""
_UNSAFE = re.compile("[\ud800-\udfff\0]")
STEP = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """How much of a session a person wants, and in what form."""

    full: bool = False
    last: int | None = None
    """Newest turns."""
    budget: int | None = None
    """Tokens, estimated."""
    fidelity: str = "faithful"
    """`faithful`, or `text`: thoughts as text."""
    pending: bool = True
    """Whether an unanswered last prompt goes to the command."""
    proofs: bool = True
    """Whether thoughts that the same agent's service can verify are kept as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the target will work, as the person or the machine says it."""

    cwd: str
    git_branch: str | None = None
    commit: str | None = None


@dataclass(slots=True)
class Fitted:
    """The conversation, what it cost, and what a person should be told."""

    conversation: Conversation
    losses: tuple[Loss, ...]
    notes: list[str] = field(default_factory=list)
    tokens: int = 0
    """Of what is written, estimated."""


Cleaner = Callable[[Entry], Entry]
"""Masks an entry once more; the identity for an unmasked session."""


def fit(
    session: MaskedSession,
    limits: Limits,
    wish: Wish,
    place: Place,
    *,
    same_agent: bool,
    clean: Cleaner = lambda entry: entry,
) -> Fitted:
    """Everything in one go. A session in which nothing was said gives a conversation of a note."""
    wanted = Wanted(
        full=wish.full,
        thinking=wish.fidelity == "text",
        proofs=wish.proofs and same_agent and limits.reasoning,
    )
    drawn = draw(session, wanted)
    lost = drawn.lost
    entries: Iterable[Entry] = unique_ids(map(clean, drawn.entries))
    entries = list(safe(entries, lost))
    turns = split(entries)
    told: list[str] = []
    turns, pending = _pending(turns, wish, told)
    turns = _chosen(turns, wish, told)
    turns = [_tools(turn, limits, lost) for turn in turns]
    turns = _pictured(turns, limits, lost)
    turns = _led(turns, session, pending)
    turns = _noted(turns, session, lost, pending)
    turns = spread(turns, _started(session.facts), rising=limits.rising)
    conversation = Conversation(
        turns=tuple(turns),
        origin=Origin(
            agent=session.spec.slug, session_id=session.session_id,
            context_id=session.context_id, agent_version=session.facts.agent_version,
            masked=session.masked,
        ),
        title=safe_text(session.facts.title) if _titled(session.facts) else None,
        title_given=session.facts.title_source == "name",
        cwd=place.cwd, git_branch=place.git_branch or session.facts.git_branch,
        git_remote=session.facts.git_remote, commit=place.commit,
        model=session.facts.model, pending=pending,
    )  # fmt: skip
    tokens = estimate(turns)
    _weigh(tokens, limits, told)
    return Fitted(conversation, losses(lost), told, tokens)


def safe(entries: Iterable[Entry], lost: Counter[LossKind]) -> Iterator[Entry]:
    """Without NUL and lone surrogates; entries that are empty then are left out."""
    for entry in entries:
        if entry.kind == "user" and not entry.note and notes.ours(entry.text):
            continue
        made = _safe(entry)
        if made is not entry:
            lost["text_safety"] += 1
        if made.kind in ("user", "assistant") and not made.text.strip() and not made.images:
            continue
        yield made


def _safe(entry: Entry) -> Entry:
    given = safe_value(entry.input)
    if not _UNSAFE.search(entry.text) and given is entry.input and not _UNSAFE.search(entry.name):
        return entry
    return replace(
        entry, text=safe_text(entry.text) or "", name=safe_text(entry.name) or "", input=given
    )


def safe_text(text: str | None) -> str | None:
    if text is None or not _UNSAFE.search(text):
        return text
    return _UNSAFE.sub(lambda found: "␀" if found.group() == "\0" else "\ufffd", text)


def safe_value(value: Any) -> Any:
    """The same value where nothing has to change."""
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, Mapping):
        pairs = [(safe_text(str(key)) or "", safe_value(item)) for key, item in value.items()]
        changed = any(k is not key or v is not value[key] for (k, v), key in zip(
            pairs, value, strict=True
        ))  # fmt: skip
        return dict(pairs) if changed else value
    if isinstance(value, list):
        items = [safe_value(item) for item in value]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def split(entries: Sequence[Entry]) -> list[Turn]:
    """Turns: each begins with what was typed; notes before it belong to it."""
    turns: list[list[Entry]] = []
    for entry in entries:
        typed = entry.kind == "user" and not entry.note
        fresh = not turns or (typed and any(e.kind != "user" or not e.note for e in turns[-1]))
        if fresh:
            turns.append([])
        turns[-1].append(entry)
    return [Turn(entries=tuple(found)) for found in turns]


def _pending(turns: list[Turn], wish: Wish, told: list[str]) -> tuple[list[Turn], str | None]:
    """Takes the prompts that nobody answered from the end."""
    waiting: list[Entry] = []
    kept = list(turns)
    while kept and all(entry.kind == "user" for entry in kept[-1].entries):
        if any(entry.note for entry in kept[-1].entries):
            break
        waiting = [*kept.pop().entries, *waiting]
    if not waiting:
        return turns, None
    text = "\n\n".join(entry.text for entry in waiting)
    if not wish.pending:
        told.append("the last prompt was not answered; it stands in the history as text")
        return turns, None
    if any(entry.images for entry in waiting) or len(text) > LONGEST_PENDING:
        told.append("the last prompt was not answered, and is too large for a command: ask again")
        return turns, None
    return kept, _no_option(text)


def _no_option(prompt: str) -> str:
    """A prompt that no program takes for one of its options (`--help`, or one that lifts limits):
    not every agent has another way to say so."""
    return f" {prompt}" if prompt.startswith("-") else prompt


def _chosen(turns: list[Turn], wish: Wish, told: list[str]) -> list[Turn]:
    """The newest turns that were asked for."""
    kept = turns
    if wish.last is not None:
        kept = turns[len(turns) - wish.last :] if wish.last < len(turns) else turns
    if wish.budget is not None:
        total, count = 0, 0
        for turn in reversed(kept):
            total += estimate([turn])
            if total > wish.budget and count:
                break
            count += 1
        kept = kept[len(kept) - count :]
    left = len(turns) - len(kept)
    if left:
        told.append(f"{left} earlier turn{'s' if left > 1 else ''} left out, as asked")
    return kept


def _tools(turn: Turn, limits: Limits, lost: Counter[LossKind]) -> Turn:
    """Ids and names legal, outputs within the limit, tools that the target drops as text."""
    made: list[Entry] = []
    names: deque[str] = deque()
    for entry in turn.entries:
        if entry.kind == "tool_call":
            made.append(_call(entry, limits, lost))
            names.append(made[-1].call_id)
        elif entry.kind == "tool_result":
            made.append(_result(replace(entry, call_id=names.popleft()), limits, lost))
        else:
            made.append(entry)
    if limits.tool_names is not None:
        made = _as_text(made, limits.tool_names, lost)
    return Turn(entries=tuple(made))


def _call(entry: Entry, limits: Limits, lost: Counter[LossKind]) -> Entry:
    name = entry.name
    if not re.fullmatch(limits.tool_name, name):
        name = _legal(name, limits.tool_name, 128) or "tool"
        lost["tool"] += 1
    call_id = entry.call_id
    if len(call_id) > limits.call_id_length or not re.fullmatch(limits.call_id, call_id):
        call_id = _id(call_id, limits)
    if name == entry.name and call_id == entry.call_id:
        return entry
    return replace(entry, name=name, call_id=call_id)


def _id(call_id: str, limits: Limits) -> str:
    """Legal, and by its end as unique as the one that it stands for."""
    from hashlib import blake2b

    digest = blake2b(call_id.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    head = _legal(call_id, limits.call_id, limits.call_id_length - 13)
    found = f"{head}_{digest}" if head else f"call_{digest}"
    return found if re.fullmatch(limits.call_id, found) else f"call{digest}"


def _legal(text: str, pattern: str, longest: int) -> str:
    """Characters that the pattern does not take by themselves become `_`; as long as it allows."""
    made = "".join(c if re.fullmatch(pattern, c) else "_" for c in text)[:longest].strip("_")
    while made and not re.fullmatch(pattern, made):
        made = made[:-1]
    return made


def _result(entry: Entry, limits: Limits, lost: Counter[LossKind]) -> Entry:
    name = entry.name
    if not re.fullmatch(limits.tool_name, name):
        name = _legal(name, limits.tool_name, 128) or "tool"
    text = entry.text
    if limits.output_chars is not None and len(text) > limits.output_chars:
        text = cut(text, limits.output_chars)
        lost["tool_output_cut"] += 1
    return replace(entry, name=name, text=text)


def cut(text: str, longest: int) -> str:
    """Head and tail, with a mark between them."""
    half = max((longest - 120) // 2, 1)
    mark = notes.CUT.format(count=len(text) - 2 * half)
    return text[:half] + mark + text[-half:]


def _as_text(
    entries: list[Entry], names: Mapping[str, str], lost: Counter[LossKind]
) -> list[Entry]:
    """Calls of tools that the target would drop: what was called and what came of it, behind the
    calls and results that stood beside them."""
    made: list[Entry] = []
    texts: list[Entry] = []
    answers = {e.call_id: e for e in entries if e.kind == "tool_result"}
    kept = {e.call_id for e in entries if e.kind == "tool_call" and e.name in names}
    before = ""
    for entry in entries:
        if entry.kind != "tool_result" and (entry.kind != "tool_call" or before == "tool_result"):
            made += texts  # a batch of calls and results has ended
            texts = []
        before = entry.kind
        if entry.kind == "tool_call" and entry.call_id not in kept:
            lost["tool"] += 1
            texts += _as_texts(entry, answers[entry.call_id])
        elif entry.kind in ("tool_call", "tool_result"):
            if entry.call_id in kept:
                name = names.get(entry.name, entry.name)
                lost["tool"] += entry.kind == "tool_call" and name != entry.name
                made.append(replace(entry, name=name))
        else:
            made.append(entry)
    return [*made, *texts]


def _as_texts(call: Entry, result: Entry) -> Iterator[Entry]:
    yield _told(call, f"[called {call.name}] {_json(call.input)}")
    yield _told(result, f"[result of {call.name}]\n{result.text}")


def _told(entry: Entry, text: str) -> Entry:
    return Entry(kind="assistant", text=text, timestamp=entry.timestamp, source_id=entry.source_id)


def _json(value: Any) -> str:
    return dump_json(value).decode()


def _pictured(turns: list[Turn], limits: Limits, lost: Counter[LossKind]) -> list[Turn]:
    if not any(entry.images for turn in turns for entry in turn.entries):
        return turns
    flat = limited([entry for turn in turns for entry in turn.entries], limits, lost)
    rest = iter(flat)
    return [Turn(entries=tuple(next(rest) for _ in turn.entries)) for turn in turns]


def _led(turns: list[Turn], session: MaskedSession, pending: str | None) -> list[Turn]:
    """At least one turn, and the first begins with a user's entry."""
    if not turns:
        return [Turn(entries=(_note(notes.begun(session.spec.name), session),))]
    first = turns[0].entries
    if first[0].kind != "user":
        turns[0] = Turn(entries=(_note(notes.unled(session.spec.name), session), *first))
    return turns


def _noted(
    turns: list[Turn], session: MaskedSession, lost: Counter[LossKind], pending: str | None
) -> list[Turn]:
    """One note at the start where there are masks."""
    count = sum(_masks(entry) for turn in turns for entry in turn.entries)
    count += notes.masks(pending or "")
    lost["mask"] = count
    if not count:
        return turns
    note = _note(notes.MASKS, session)
    return [Turn(entries=(note, *turns[0].entries)), *turns[1:]]


def _masks(entry: Entry) -> int:
    count = notes.masks(entry.text)
    if entry.input and "[redacted:" in (text := _json(entry.input)):
        count += notes.masks(text)
    return count


def _note(text: str, session: MaskedSession) -> Entry:
    return Entry(kind="user", text=text, timestamp=_started(session.facts), note=True)


def _started(facts: SessionFacts) -> datetime:
    from ultracontext.switch.entries import moment

    return moment(facts.started_at)


def spread(turns: list[Turn], started: datetime, *, rising: bool) -> list[Turn]:
    """Times that never fall; each a millisecond later at least where the target needs it. Those
    that are not known are those of the entry before."""
    known = (e.timestamp for turn in turns for e in turn.entries if e.timestamp > EPOCH)
    last = max(started, EPOCH) if started > EPOCH else next(known, EPOCH)
    first = True
    made: list[Turn] = []
    for turn in turns:
        entries: list[Entry] = []
        for entry in turn.entries:
            least = last if first or not rising else last + STEP
            time = max(entry.timestamp, least) if entry.timestamp > EPOCH else least
            if first and EPOCH < entry.timestamp < last:
                time = entry.timestamp
            first, last = False, time
            entries.append(entry if time == entry.timestamp else replace(entry, timestamp=time))
        made.append(Turn(entries=tuple(entries)))
    return made


def estimate(turns: Iterable[Turn]) -> int:
    """Tokens, by the usual rule of thumb."""
    total = 0
    for turn in turns:
        for entry in turn.entries:
            total += len(entry.text) + 1500 * CHARS_A_TOKEN * len(entry.images)
            if entry.input:
                total += len(_json(entry.input))
    return total // CHARS_A_TOKEN


def _titled(facts: SessionFacts) -> bool:
    """A first prompt is no title of its own: the target makes it again."""
    return facts.title is not None and facts.title_source in ("name", "agent")


def _weigh(tokens: int, limits: Limits, told: list[str]) -> None:
    if limits.window_tokens is not None and tokens > limits.window_tokens:
        told.append(
            f"the history is about {tokens} tokens, the target's window {limits.window_tokens}:"
            " --last N or --budget N carries less"
        )
