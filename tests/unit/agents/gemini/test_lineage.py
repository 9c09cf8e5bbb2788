"""Copies of a session: what `/chat save` and `/chat resume` make."""

from __future__ import annotations

from typing import Any

from ultracontext.agents.gemini.lineage import relate

CHECKPOINT = "tmp/acme-api/checkpoint-t.json"


def records(files: Any) -> Any:
    return [record for fed in files.fed.values() for record, _ in fed]


def log(lab: Any, *natives: Any, **more: Any) -> Any:
    return records(lab.files().log(lab.LOG, [lab.meta(**more), *natives]))


def checkpoint(lab: Any, *texts: str) -> Any:
    roles = ("user", "model")
    history = [{"role": roles[n % 2], "parts": [{"text": t}]} for n, t in enumerate(texts)]
    return records(lab.files().document(CHECKPOINT, {"history": history}, "history"))


def test_a_checkpoint_is_a_copy_of_the_session_that_says_the_same(lab: Any) -> None:
    session = log(lab, lab.user("u", "q"), lab.gemini("g", "a"), lab.user("v", "r"))
    saved = checkpoint(lab, "q", "a")
    assert relate(saved, session) == "a"
    assert relate(session, saved) == "b"
    assert relate(checkpoint(lab, "q", "other"), session) is None
    assert relate(checkpoint(lab), session) is None
    assert relate(saved, saved) is None


def test_sessions_with_common_calls_are_copies_the_later_of_the_earlier(lab: Any) -> None:
    one = log(lab, lab.user("u", "q"), lab.gemini("g", "", toolCalls=[lab.call("c1")]))
    part = {"functionCall": {"id": "c1", "name": "shell"}}
    begun = "2026-01-09T00:00:00.000Z"
    other = log(lab, lab.snapshot(lab.user("x", "q"), lab.gemini("y", [part])), startTime=begun)
    assert relate(other, one) == "a"
    assert relate(one, other) == "b"


def test_sessions_that_only_begin_alike_are_no_relatives(lab: Any) -> None:
    one = log(lab, lab.user("u", "q"), lab.gemini("g", "a"))
    other = log(lab, lab.user("x", "q"), lab.gemini("y", "a"), startTime="2026-01-09T00:00:00.000Z")
    assert relate(one, other) is None


def test_sessions_that_begin_alike_share_a_key(lab: Any) -> None:
    one = lab.read_log(lab.user("u", "q"), lab.gemini("g", "a")).facts
    history = {"history": [{"role": "user", "parts": [{"text": "q"}]}]}
    saved = lab.files().document(CHECKPOINT, history, "history").read("checkpoint-t@acme-api").facts
    assert one.lineage_key == saved.lineage_key is not None
