"""What a conversation is before a writer sees it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recordings import files
from switch_lab import Lab, claude_lines, result, spoken, use

from ultracontext.formats import Entry, Limits
from ultracontext.switch import notes
from ultracontext.switch.fit import Fitted, Place, Wish, fit
from ultracontext.switch.session import MaskedSession

KEY = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"
PLAIN = Limits()


def session(lab: Lab, *said: tuple[str, Any]) -> MaskedSession:
    (found,) = lab.sessions("claude", claude_lines(list(spoken(*said))))
    return found


def fitted(
    lab: Lab, *said: tuple[str, Any], limits: Limits = PLAIN, wish: Wish | None = None
) -> Fitted:
    place = Place(cwd="/w/app")
    return fit(session(lab, *said), limits, wish or Wish(), place, same_agent=False)


def entries(found: Fitted) -> list[Entry]:
    return list(found.conversation.entries())


def kinds(found: Fitted) -> str:
    letters = {"user": "u", "assistant": "a", "tool_call": "c", "tool_result": "r"}
    return "".join(letters.get(e.kind, "?") for e in entries(found))


def lost(found: Fitted) -> dict[str, int]:
    return {loss.kind: loss.count for loss in found.losses}


def test_turns_begin_with_what_was_typed(lab: Lab) -> None:
    found = fitted(lab, ("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"))
    assert [t.prompt.text for t in found.conversation.turns] == ["a", "c"]
    assert [t.answer for t in found.conversation.turns] == ["b", "d"]
    assert not found.losses


def test_parallel_calls_stand_before_their_results_in_the_same_order(lab: Lab) -> None:
    found = fitted(
        lab,
        ("user", "go"),
        ("assistant", [use("Bash", {"n": 1}, "a"), use("Bash", {"n": 2}, "b")]),
        ("user", [result("b", "two")]),
        ("user", [result("a", "one")]),
        ("assistant", "done"),
    )
    assert kinds(found) == "uccrra"
    assert [e.text for e in entries(found) if e.kind == "tool_result"] == ["one", "two"]
    assert [e.call_id for e in entries(found)][1:5] == ["a", "b", "a", "b"]


def test_a_missing_result_is_closed_by_a_marked_one_and_an_orphan_is_left_out(lab: Lab) -> None:
    found = fitted(
        lab,
        ("user", "go"),
        ("assistant", [use("Bash", {}, "a")]),
        ("assistant", "never mind"),
        ("user", [result("nobody", "stray")]),
        ("user", "next"),
        ("assistant", "ok"),
    )
    assert kinds(found) == "ucraua"
    (made,) = [e for e in entries(found) if e.kind == "tool_result"]
    assert made.synthetic
    assert made.is_error
    assert made.text == notes.NO_RESULT
    assert lost(found) == {"orphan": 2}


def test_ids_are_unique_and_legal_in_call_and_result_together(lab: Lab) -> None:
    found = fitted(
        lab,
        ("user", "go"),
        ("assistant", [use("a b/ü", {}, "call 1!")]), ("user", [result("call 1!", "x")]),
        ("assistant", [use("t", {}, "call_2")]), ("user", [result("call_2", "y")]),
        ("assistant", [use("t", {}, "call_2")]), ("user", [result("call_2", "z")]),
        ("assistant", "done"),
    )  # fmt: skip
    calls = [e for e in entries(found) if e.kind == "tool_call"]
    results = [e for e in entries(found) if e.kind == "tool_result"]
    assert [c.call_id for c in calls] == [r.call_id for r in results]
    assert len({c.call_id for c in calls}) == 3
    assert all(c.call_id.replace("_", "").isalnum() and c.call_id.isascii() for c in calls)
    assert [r.text for r in results] == ["x", "y", "z"]
    assert calls[0].name == "a_b"
    assert lost(found) == {"tool": 1}


@pytest.mark.parametrize("given", ["ls", ["ls"], None, {"a": 1}])
def test_inputs_are_objects(lab: Lab, given: Any) -> None:
    found = fitted(
        lab, ("user", "go"), ("assistant", [use("t", given, "a")]), ("user", [result("a", "x")])
    )
    (call,) = [e for e in entries(found) if e.kind == "tool_call"]
    assert dict(call.input) == (
        given if isinstance(given, dict) else {} if given is None else {"input": given}
    )


def test_surrogates_nul_and_empty_texts_are_made_safe(lab: Lab) -> None:
    found = fitted(
        lab,
        ("user", "a\x00b \ud800"),
        ("assistant", [{"type": "text", "text": "  "}, use("t", {"k\x00": ["\udfff"]}, "a")]),
        ("user", [result("a", "\x00")]),
        ("assistant", "fine"),
    )
    json.dumps([e.text for e in entries(found)], ensure_ascii=False).encode()
    assert kinds(found) == "ucra"
    assert entries(found)[0].text == "a␀b \ufffd"
    assert dict(entries(found)[1].input) == {"k␀": ["\ufffd"]}
    assert lost(found)["text_safety"] == 3


def test_an_unanswered_prompt_goes_to_the_command(lab: Lab) -> None:
    said = (("user", "a"), ("assistant", "b"), ("user", "and now?"))
    found = fitted(lab, *said)
    assert found.conversation.pending == "and now?"
    assert kinds(found) == "ua"
    kept = fitted(lab, *said, wish=Wish(pending=False))
    assert kept.conversation.pending is None
    assert kinds(kept) == "uau"


def test_a_session_of_one_unanswered_prompt_gives_a_note_to_go_on_from(lab: Lab) -> None:
    found = fitted(lab, ("user", "and now?"))
    assert found.conversation.pending == "and now?"
    (note,) = entries(found)
    assert note.note
    assert "nothing was answered" in note.text


@pytest.mark.parametrize(
    ("agent", "recording", "prompt"),
    [
        ("claude", "api-error-400", "Trigger a bad request."),
        ("gemini", "api-error-429", "Explain the build"),
        ("gemini", "v24-api-error", "Explain the build"),
    ],
)
def test_an_error_is_left_out_and_its_prompt_waits(
    lab: Lab, agent: str, recording: str, prompt: str
) -> None:
    (found,) = lab.sessions(agent, files(agent, recording))
    made = fit(found, PLAIN, Wish(), Place(cwd="/w"), same_agent=False)
    assert made.conversation.pending == prompt
    assert all(entry.note for entry in made.conversation.entries())


def test_last_counts_turns_and_budget_keeps_the_newest(lab: Lab) -> None:
    said = [(kind, f"{n}" * 400) for n in range(6) for kind in ("user", "assistant")]
    last = fitted(lab, *said, wish=Wish(last=2))
    assert [t.prompt.text[0] for t in last.conversation.turns] == ["4", "5"]
    assert "4 earlier turns left out" in last.notes[0]
    budget = fitted(lab, *said, wish=Wish(budget=450))
    assert [t.prompt.text[0] for t in budget.conversation.turns] == ["4", "5"]
    least = fitted(lab, *said, wish=Wish(budget=1))
    assert len(least.conversation.turns) == 1


def test_outputs_above_the_limit_are_cut_with_a_mark(lab: Lab) -> None:
    long = "".join(f"line {n}\n" for n in range(4000))
    found = fitted(
        lab, ("user", "go"), ("assistant", [use("t", {}, "a")]), ("user", [result("a", long)]),
        limits=Limits(output_chars=1000),
    )  # fmt: skip
    text = entries(found)[2].text
    assert len(text) <= 1000
    assert text.startswith("line 0\n")
    assert text.endswith("line 3999\n")
    assert notes.OPENING in text
    assert lost(found) == {"tool_output_cut": 1}


def test_times_never_fall_and_rise_where_they_have_to(lab: Lab) -> None:
    records = list(spoken(*[("user", "a"), ("assistant", "b")] * 3))
    for place, time in enumerate(("10:00:05", "10:00:05", "10:00:01", "10:00:07", "", "x")):
        records[place]["timestamp"] = f"2026-11-30T{time}.000Z" if time[:1].isdigit() else time
    (source,) = lab.sessions("claude", claude_lines(records))
    for rising in (False, True):
        made = fit(source, Limits(rising=rising), Wish(), Place(cwd="/w"), same_agent=False)
        times = [e.timestamp for e in made.conversation.entries()]
        assert times == sorted(times)
        assert (len(set(times)) == len(times)) == rising
        assert times[3].isoformat() == "2026-11-30T10:00:07+00:00"


def test_masks_bring_one_note_and_are_counted(lab: Lab) -> None:
    found = fitted(
        lab, ("user", f"use {KEY}"), ("assistant", f"I will not print {KEY}."), ("user", "ok"),
        ("assistant", "done"),
    )  # fmt: skip
    assert [e.note for e in entries(found)].count(True) == 1
    assert entries(found)[0].text == notes.MASKS
    assert found.conversation.turns[0].prompt.text.startswith("use [redacted:")
    assert lost(found) == {"mask": 2}
    assert KEY not in repr(found.conversation)


def test_a_secret_that_only_its_key_gives_away_is_masked_in_the_object(lab: Lab) -> None:
    arguments = json.dumps({"config": {"password": "hunter2hunter2"}})
    line = {
        "type": "response_item", "timestamp": "2026-11-30T10:00:02Z",
        "payload": {
            "type": "function_call", "name": "t", "call_id": "c", "arguments": arguments
        },
    }  # fmt: skip
    head = {
        "type": "session_meta", "timestamp": "2026-11-30T10:00:00Z",
        "payload": {"id": "01a22cd6-5a5f-7ba2-a884-2921da0ffb61", "timestamp": "x", "cwd": "/w"},
    }  # fmt: skip
    user = {
        "type": "event_msg", "timestamp": "2026-11-30T10:00:01Z",
        "payload": {"type": "user_message", "message": "go"},
    }  # fmt: skip
    name = "sessions/2026/11/30/rollout-2026-11-30T10-00-00-01a22cd6-5a5f-7ba2-a884-2921da0ffb61"
    data = b"".join(json.dumps(one).encode() + b"\n" for one in (head, user, line))
    (found,) = lab.sessions("codex", {f"{name}.jsonl": data})
    planned = lab.plan(found, "claude")
    assert b"hunter2" not in planned.plan.files[0].data
    lab.commit(planned)


@pytest.mark.parametrize(
    ("agent", "recording"),
    [("claude", "v2.0-compaction"), ("codex", "compaction-auto"), ("codex", "tui-manual-compact")],
)
def test_after_a_compaction_its_summary_is_carried_and_full_carries_all(
    lab: Lab, agent: str, recording: str
) -> None:
    source = max(lab.sessions(agent, files(agent, recording)), key=lambda s: len(s.messages))
    live = fit(source, PLAIN, Wish(), Place(cwd="/w"), same_agent=False)
    whole = fit(source, PLAIN, Wish(full=True), Place(cwd="/w"), same_agent=False)
    assert any(e.note and "summary" in e.text for e in live.conversation.entries())
    assert not any(e.note for e in whole.conversation.entries())
    assert {loss.kind for loss in live.losses} >= {"compacted"}
    assert "compacted" not in {loss.kind for loss in whole.losses}


def test_thoughts_are_left_out_and_counted_or_told_as_text(lab: Lab) -> None:
    said = (
        ("user", "go"),
        ("assistant", [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}]),
        ("assistant", "done"),
    )
    faithful = fitted(lab, *said)
    assert kinds(faithful) == "ua"
    assert lost(faithful) == {"thinking": 1}
    text = fitted(lab, *said, wish=Wish(fidelity="text"))
    assert entries(text)[1].text == "<thinking>\nhm\n</thinking>"


def test_a_note_of_an_earlier_switch_is_not_carried_on(lab: Lab) -> None:
    found = fitted(lab, ("user", notes.MASKS), ("user", "a"), ("assistant", "b"))
    assert [e.text for e in entries(found)] == ["a", "b"]
