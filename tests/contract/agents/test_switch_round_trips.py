"""Every recording, written for every target, read back: equal up to what was declared as lost."""

from __future__ import annotations

import json
import secrets
import string
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from recordings import Play, files, play, redactor, spec_of
from written import laid, target, writer

from ultracontext.agents import known
from ultracontext.formats import Entry, WritePlan
from ultracontext.switch.compare import check, read_back
from ultracontext.switch.entries import Wanted, draw
from ultracontext.switch.fit import Fitted, Place, Wish, fit, safe
from ultracontext.switch.plan import masking
from ultracontext.switch.session import MaskedSession

TARGETS = (
    ("claude", "2.1.332"), ("claude", "2.0.77"), ("codex", "0.171.0"), ("codex", "0.125.0"),
    ("gemini", "0.61.0"), ("gemini", "0.29.0"), ("openclaw", "2026.9.6"), ("openclaw", "2026.7.35"),
)  # fmt: skip
EVERY = pytest.mark.parametrize(
    ("slug", "version"), TARGETS, ids=[f"to-{slug}-{version}" for slug, version in TARGETS]
)
CWD = "/home/dev/acme-api"


def sessions(found: Play) -> list[MaskedSession]:
    """Those in which somebody talked, as a switch reads them."""
    made = [
        MaskedSession.of(spec_of(found.agent), name, session.fed)
        for name, session in found.sessions.items()
        if name is not None
    ]
    return [s for s in made if any(m.kind in ("user", "assistant") for m in s.live)]


def switched(session: MaskedSession, slug: str, version: str) -> tuple[Fitted, WritePlan]:
    opened = writer(slug, version)
    fitted = fit(
        session, opened.limits, Wish(), Place(cwd=CWD),
        same_agent=slug == session.spec.slug, clean=masking(redactor()),
    )  # fmt: skip
    return fitted, opened.plan(fitted.conversation, target(slug, version))


def again(slug: str, plan: WritePlan) -> MaskedSession:
    """What was written, read as a switch reads it."""
    found = play(slug, laid(plan), whole=True).sessions
    return MaskedSession.of(known()[slug], plan.session_id, found[plan.session_id].fed)


@cache
def of_recording(agent: str, recording: str) -> list[MaskedSession]:
    return sessions(play(agent, files(agent, recording), whole=True))


@EVERY
def test_what_is_written_is_read_back(agent: str, recording: str, slug: str, version: str) -> None:
    for session in of_recording(agent, recording):
        _, plan = switched(session, slug, version)
        back = again(slug, plan)
        check(back, plan.expected)
        assert back.facts.relation == "switch"
        assert back.facts.parent_session == session.session_id
        assert back.facts.unknown == {}


@EVERY
def test_there_and_back_keeps_turns_and_tool_pairs(
    agent: str, recording: str, slug: str, version: str
) -> None:
    home = next(((a, v) for a, v in TARGETS if a == agent), None)
    if home is None:
        home = TARGETS[0]
    for session in of_recording(agent, recording):
        fitted, plan = switched(session, slug, version)
        there = again(slug, plan)
        back = again(home[0], switched(there, *home)[1])
        lost = {loss.kind for loss in fitted.losses}
        first = list(safe(live(session), Counter()))
        if fitted.conversation.pending is not None:
            first = first[: last_answer(first) + 1]
        last = list(read_back(back))
        if set(called(first)) - set(writer(slug, version).limits.tool_names or called(first)):
            assert "tool" in lost  # they became texts
            assert texts(first, "user") == texts(last, "user")
            continue
        assert texts(first) == texts(last)
        names = "tool" not in lost
        outputs = not lost & {"tool_output_cut", "image"}
        assert pairs(first, names, outputs) == pairs(last, names, outputs)


def called(entries: Sequence[Entry]) -> list[str]:
    return [entry.name for entry in entries if entry.kind == "tool_call"]


def last_answer(entries: Sequence[Entry]) -> int:
    return max((n for n, entry in enumerate(entries) if entry.kind != "user"), default=-1)


def live(session: MaskedSession) -> list[Entry]:
    return [entry for entry in draw(session, Wanted()).entries if not entry.note]


def texts(entries: Sequence[Entry], *kinds: str) -> list[tuple[str, str]]:
    wanted = kinds or ("user", "assistant")
    return [(e.kind, e.text) for e in entries if e.kind in wanted and e.text.strip()]


def pairs(entries: Sequence[Entry], names: bool, outputs: bool) -> list[tuple[str, ...]]:
    """Calls with their results; without what the target was said to change."""
    told = {e.call_id: e.text for e in entries if e.kind == "tool_result"}
    return [
        (
            e.name if names else "", json.dumps(dict(e.input), sort_keys=True),
            told[e.call_id] if outputs else "",
        )
        for e in entries
        if e.kind == "tool_call"
    ]  # fmt: skip


# ---- secrets -------------------------------------------------------------------------------------
PLACES = frozenset(
    {"text", "command", "cmd", "content", "output", "message", "title", "summary", "stdout",
     "arguments", "thinking", "description", "name", "path", "file_path", "value", "aiTitle"}
)  # fmt: skip


def planted(native: Any, fresh: list[str]) -> Any:
    """Secrets at the end of every text that says something, each another one."""
    if isinstance(native, dict):
        return {
            key: _with_secret(value, fresh)
            if key in PLACES and isinstance(value, str) and " " in value
            else planted(value, fresh)
            for key, value in native.items()
        }
    if isinstance(native, list):
        return [planted(item, fresh) for item in native]
    return native


def _with_secret(text: str, fresh: list[str]) -> str:
    letters = string.ascii_letters + string.digits
    made = (
        "ghp_" + "".join(secrets.choice(letters) for _ in range(36)),
        "AKIA" + "".join(secrets.choice(string.ascii_uppercase + "234567") for _ in range(16)),
    )[len(fresh) % 2]
    fresh.append(made)
    return f"{text} {made} "


@EVERY
def test_no_planted_secret_is_in_any_written_byte(
    agent: str, recording: str, slug: str, version: str
) -> None:
    fresh: list[str] = []
    found = play(agent, files(agent, recording), change=lambda native: [planted(native, fresh)])
    for session in sessions(found):
        fitted, plan = switched(session, slug, version)
        told = repr((plan.files, plan.steps, plan.command, plan.notes, fitted.notes))
        assert [secret for secret in fresh if secret in told] == []
        assert ("[redacted:" in told) == any(loss.kind == "mask" for loss in fitted.losses)
