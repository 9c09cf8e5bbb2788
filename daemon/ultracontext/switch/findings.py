"""What a handoff tells of a session: turns, requests, decisions, plan, files, open ends.

Found by rules, not by a model: nothing is made up, and the same session gives the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ultracontext.model import Message
from ultracontext.switch.diffs import changes_of

MOST_DECISIONS = 40
LONGEST_SENTENCE = 300

_DECIDED = re.compile(
    r"\b(?:decid\w+|chose|choos\w+|agreed?|instead of|rather than|we(?:'ll| will) (?:use|keep|go)"
    r"|I(?:'ll| will) (?:use|keep|go with)|let's (?:use|keep|go)|settled on|prefer\w*|must not"
    r"|do(?:n't| not) (?:use|change|touch|add|remove)|never|always|from now on)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_DONE = frozenset({"completed", "done", "cancelled"})


@dataclass(slots=True, kw_only=True)
class Findings:
    """All that was found. Every string is as the session has it, nothing cut."""

    turns: list[list[Message]] = field(default_factory=list)
    """A typed prompt and what followed; what came before the first prompt is a turn of its own."""
    decisions: list[tuple[str, str]] = field(default_factory=list)
    """(who, sentence), oldest first."""
    plan: list[tuple[str, str]] = field(default_factory=list)
    """(status, step) of the newest plan or to-do list."""
    changes: dict[str, list[str]] = field(default_factory=dict)
    """Path → diffs of the calls that did not fail."""
    open_ends: list[str] = field(default_factory=list)

    @property
    def prompts(self) -> list[Message]:
        return [m for turn in self.turns for m in turn if m.kind == "user"]


def find(messages: Sequence[Message], files: Iterable[str]) -> Findings:
    """`files` are those that the session's facts name; they stand first, in that order."""
    found = Findings(turns=turns_of(messages))
    found.changes = {path: [] for path in files}
    for message in messages:
        _note(message, found)
    found.open_ends = list(_open_ends(messages, found))
    return found


def turns_of(messages: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in messages:
        if message.kind == "meta":
            continue
        if message.kind == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def _note(message: Message, found: Findings) -> None:
    if message.kind in ("user", "assistant"):
        who = "the person" if message.kind == "user" else "the agent"
        for sentence in _decisions(message.text):
            if len(found.decisions) < MOST_DECISIONS and (who, sentence) not in found.decisions:
                found.decisions.append((who, sentence))
    tool = message.tool
    if message.kind != "tool_call" or tool is None or tool.is_error is True:
        return
    found.plan = _plan(tool.input) or found.plan
    for path, diff in changes_of(tool.input):
        found.changes.setdefault(_known(path, found.changes), []).append(diff)


def _known(path: str, changes: dict[str, list[str]]) -> str:
    """The absolute path that facts have of a relative one."""
    if path in changes or path.startswith("/"):
        return path
    tail = "/" + path.removeprefix("./")
    return next((known for known in changes if known.endswith(tail)), path)


def _decisions(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(text[:50_000]):
        said = " ".join(sentence.split())
        if 12 <= len(said) <= LONGEST_SENTENCE and _DECIDED.search(said):
            yield said


def _plan(given: Any) -> list[tuple[str, str]]:
    """The steps of a plan: `todos: [{content, status}]` or `plan: [{step, status}]`."""
    if type(given) is not dict:
        return []
    listed = given.get("todos") or given.get("plan")
    steps = [s for s in listed if type(s) is dict] if type(listed) is list else []
    named = [(s.get("status"), s.get("content") or s.get("step")) for s in steps]
    return [(str(status or "pending"), text) for status, text in named if type(text) is str]


def _open_ends(messages: Sequence[Message], found: Findings) -> Iterator[str]:
    last = found.turns[-1] if found.turns else []
    if last and last[0].kind == "user" and not any(m.kind == "assistant" for m in last):
        yield "The last request has no answer yet; it stands at the end of this document."
    for status, step in found.plan:
        if status not in _DONE:
            yield f"Planned, {status.replace('_', ' ')}: {step}"
    for message in last:
        tool = message.tool
        if message.kind != "tool_call" or tool is None:
            continue
        if tool.output is None:
            yield f"The call {tool.name} has no result: {message.text}"
        elif tool.is_error:
            yield f"The call {tool.name} failed: {message.text}"
    said = next((m for m in reversed(messages) if m.kind == "assistant"), None)
    if said is not None and said in last:
        yield from (f"Asked: {s}" for s in _questions(said.text))


def _questions(text: str) -> list[str]:
    sentences = (" ".join(s.split()) for s in _SENTENCE.split(text[-20_000:]))
    return [s for s in sentences if s.endswith("?") and len(s) <= LONGEST_SENTENCE][-3:]
