"""Conversations made by hand or at random, written by an agent and read back by its own reader.

`seen` and `wanted` bring both into one form: texts in order, each call with its result, and after
how many texts it was made. Parallel calls may stand in either order that readers give.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from hypothesis import strategies as st
from recordings import play

from ultracontext.agents import known
from ultracontext.formats import (
    Conversation,
    Entry,
    EntryKind,
    Image,
    Limits,
    Origin,
    PutKey,
    Target,
    Turn,
    WritePlan,
    Writer,
)
from ultracontext.formats.gate import open_writer
from ultracontext.model import Message, SessionFacts

NOW = datetime(2026, 11, 30, 12, 0, 0, 123000, tzinfo=UTC)
BEGAN = datetime(2026, 11, 20, 10, 0, 0, 5000, tzinfo=UTC)
SESSION = "5e551011-aaaa-4bbb-8ccc-000000000001"
CWD = "/home/dev/acme-api"
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
PICTURE = Image(media_type="image/png", data=PNG, size_bytes=70, note="[image image/png, 70 bytes]")

Seen = tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]


def entry(kind: EntryKind, text: str = "", **more: Any) -> Entry:
    return Entry(kind=kind, text=text, **{"timestamp": BEGAN, **more})


def called(name: str, given: dict[str, Any], output: str, **more: Any) -> list[Entry]:
    """A call and its result; `call_id` among `more`."""
    call_id = more.pop("call_id", f"id{name}")
    return [
        entry("tool_call", name=name, call_id=call_id, input=given),
        entry("tool_result", output, name=name, call_id=call_id, **more),
    ]


def conversation(*turns: Sequence[Entry], **more: Any) -> Conversation:
    """Times rise by a second from entry to entry."""
    timed: list[Turn] = []
    number = 0
    for turn in turns:
        made = []
        for one in turn:
            time = BEGAN + timedelta(seconds=number)
            made.append(_at(one, time))
            number += 1
        timed.append(Turn(entries=tuple(made)))
    origin = Origin(agent="parrot", session_id="s-1", context_id="ctx_" + "0" * 24)
    return Conversation(**{"turns": tuple(timed), "origin": origin, "cwd": CWD, **more})


def _at(one: Entry, time: datetime) -> Entry:
    from dataclasses import replace

    return replace(one, timestamp=time)


def writer(agent: str, version: str, source: str = "claude") -> Writer:
    return open_writer(source, agent, version, agents=known(), force=True).writer


def target(agent: str, version: str, **more: Any) -> Target:
    home = PurePosixPath("/home/dev")
    root = known()[agent].roots({}, home)[0]
    return Target(
        **{
            "root": root, "home": home, "version": version, "session_id": SESSION, "now": NOW,
            "local": NOW, **more,
        }
    )  # fmt: skip


def planned(agent: str, version: str, told: Conversation, **more: Any) -> WritePlan:
    return writer(agent, version).plan(told, target(agent, version, **more))


def laid(plan: WritePlan) -> list[tuple[str, bytes]]:
    """What lies below the root once the files and the keys of a plan are there."""
    found = {file.path: file.data for file in plan.files}
    for step in plan.steps:
        if isinstance(step, PutKey):
            document: Any = json.loads(found.get(step.path, b"{}"))
            inside = document
            for key in step.keys[:-1]:
                inside = inside.setdefault(key, {})
            inside[step.keys[-1]] = step.value
            found[step.path] = json.dumps(document).encode()
    return list(found.items())


def read_back(agent: str, plan: WritePlan) -> tuple[list[Message], SessionFacts]:
    """What the target's reader makes of it."""
    sessions = play(agent, laid(plan)).sessions
    assert list(sessions) == [plan.session_id], list(sessions)
    return sessions[plan.session_id].read()


def seen(messages: Iterable[Message], notes: Iterable[str] = ()) -> Seen:
    """`notes` are texts that nobody typed; they are left out, as a switch leaves them out."""
    unsaid = set(notes)
    said: list[tuple[Any, ...]] = [
        (m.kind, m.text) for m in messages if m.kind in ("user", "assistant")
    ]
    calls: list[tuple[Any, ...]] = []
    texts = 0
    answers = {m.tool.call_id: m for m in messages if m.kind == "tool_result" and m.tool}
    for message in messages:
        if message.kind in ("user", "assistant") and message.text not in unsaid:
            texts += 1
        if message.kind != "tool_call" or message.tool is None:
            continue
        tool, answer = message.tool, answers[message.tool.call_id]
        assert answer.tool is not None
        error = answer.tool.is_error is True
        calls.append((texts, tool.name, _plain(tool.input), answer.text, error))
    return [one for one in said if one[1] not in unsaid], calls


def wanted(entries: Sequence[Entry]) -> Seen:
    said: list[tuple[Any, ...]] = [
        (e.kind, e.text) for e in entries if e.kind in ("user", "assistant")
    ]
    answers = {e.call_id: e for e in entries if e.kind == "tool_result"}
    calls: list[tuple[Any, ...]] = []
    texts = 0
    for one in entries:
        texts += one.kind in ("user", "assistant")
        if one.kind == "tool_call":
            answer = answers[one.call_id]
            given = _plain(dict(one.input))
            calls.append((texts, one.name, given, answer.text, answer.is_error))
    return said, calls


def _plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def notes(told: Conversation) -> list[str]:
    return [e.text for e in told.entries() if e.note]


# ---- at random -----------------------------------------------------------------------------------
SAFE = st.characters(codec="utf-8", exclude_characters="\0")
OPENINGS = st.sampled_from(
    ["", "/", "?", " /x", "\n? ", "<session_context>", "\u200b", "\u200b/", "<state_snapshot>",
     "<command-name>", "[Request interrupted", "# AGENTS.md instructions", "\ufeff", "@", "-", "!"]
)  # fmt: skip
TEXTS = st.builds(
    lambda opening, text: opening + text, OPENINGS, st.text(SAFE, min_size=1, max_size=30)
).filter(lambda text: bool(text.strip()))
OUTPUTS = st.text(SAFE, max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(SAFE, max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(SAFE, max_size=4), inner),
    max_leaves=6,
)
INPUTS = st.dictionaries(st.text(SAFE, max_size=6), VALUES, max_size=3)


@st.composite
def conversations(draw: st.DrawFn, limits: Limits) -> Conversation:
    """Turns with texts, parallel calls, failures, empty outputs and notes, legal for a target."""
    names = sorted(set((limits.tool_names or {"Bash": "", "read_file": "", "mcp__x": ""}).keys()))
    ids = iter(f"c{number}" for number in range(1000))
    turns = []
    for number in range(draw(st.integers(1, 4))):
        turn = [entry("user", draw(TEXTS))]
        if number == 0 and draw(st.booleans()):
            turn.insert(0, entry("user", "[Note by UltraContext, not by the user: n]", note=True))
        for _ in range(draw(st.integers(0, 3))):
            turn += draw(_answers(names, ids))
        turns.append(turn)
    return conversation(*turns, title=draw(st.none() | st.just("A title")))


@st.composite
def _answers(draw: st.DrawFn, names: Sequence[str], ids: Iterator[str]) -> list[Entry]:
    said = [entry("assistant", draw(TEXTS))] if draw(st.booleans()) else []
    calls = [
        called(
            draw(st.sampled_from(names)), draw(INPUTS), draw(OUTPUTS), call_id=next(ids),
            is_error=draw(st.booleans()),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]  # fmt: skip
    return [*said, *(pair[0] for pair in calls), *(pair[1] for pair in calls)]
