"""The real recordings against what the program sent and got (`wire.json`)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from rollouts import OpenHome, Read, Reading, Say, tool_of

from ultracontext.model import Message
from ultracontext.redaction import Redactor

FIXTURES = Path(__file__).parents[3] / "fixtures" / "codex"
RECORDINGS = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
FORK = "01a22cd6-91fc-7d42-bd42-120a179e035c"
PROGRAM = ("Another language model", "You are performing a CONTEXT CHECKPOINT")


def squash(text: object) -> str:
    return re.sub(
        r"\s+", "", text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    )


class Wire:
    """What went over the wire for one thread, each thing once."""

    def __init__(self, name: str, session: str) -> None:
        self.prompts: list[str] = []
        self.answers: list[str] = []
        self.calls: dict[str, str] = {}
        self.outputs: dict[str, str] = {}
        for request in json.loads((FIXTURES / name / "wire.json").read_text()):
            if request["thread_id"] in (None, session):
                for item in request["request_items"]:
                    self._item(item)
                self._reply(request)

    def _item(self, item: dict[str, Any]) -> None:
        text = item.get("text")
        if item.get("role") == "user" and not item.get("wrapper") and isinstance(text, str):
            text = text.rpartition("</image>\n")[2]
            if not text.startswith(PROGRAM) and text not in self.prompts:
                self.prompts.append(text)
        elif str(item.get("type")).endswith("_output"):
            self.outputs[item["call_id"]] = text or ""

    def _reply(self, request: dict[str, Any]) -> None:
        asked = str(request["request_items"][-1].get("text"))
        for item in (request["scripted_reply"] or {}).get("items", []):
            told = {"text": item} if isinstance(item, str) else item
            name = told.get("call", told.get("custom"))
            if name is not None:
                self.calls[told["id"]] = name
            text = told.get("message", told.get("text"))
            if isinstance(text, str) and not asked.startswith(PROGRAM):
                self.answers.append(text)


@pytest.mark.parametrize("name", RECORDINGS)
def test_prompts_and_answers_once_and_in_order(
    home: OpenHome, redactor: Redactor, name: str
) -> None:
    opened = home(name)
    assert None not in opened.sessions
    for session in opened.names():
        got, wire = opened.whole(session), Wire(name, session)
        typed = [re.sub(r"^\[image .*]\n", "", text) for text in got.of("user")]
        assert list(map(squash, typed)) == [squash(redactor.text(text)) for text in wire.prompts]
        answers = got.of("assistant")
        if session == FORK:
            answers = answers[-len(wire.answers) :]
        assert list(map(squash, answers)) == list(map(squash, wire.answers))


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_call_once_with_its_output(home: OpenHome, redactor: Redactor, name: str) -> None:
    opened = home(name)
    for session in opened.names():
        got, wire = opened.read(session), Wire(name, session)
        calls = own(got, "tool_call")
        assert {tool_of(m).call_id: tool_of(m).name for m in calls} == wire.calls
        assert len(calls) == len(wire.calls)
        results = {tool_of(m).call_id: m for m in own(got, "tool_result")}
        assert len(own(got, "tool_result")) == len(results)
        assert set(results) == set(wire.calls)
        for message in calls:
            result = results[tool_of(message).call_id]
            assert tool_of(message).output == tool_of(result).output
            sent = wire.outputs.get(tool_of(message).call_id, "")
            if "data:image" not in sent:
                body = sent.rpartition("Output:\n")[2].strip().split("\n")[0]
                body = squash(redactor.text(body))
                assert body in squash(result.text) + squash(tool_of(result).output)


def own(got: Read, kind: str) -> list[Message]:
    """What the model itself called."""
    return [m for m in got.messages if m.kind == kind and "nested" not in m.metadata]


@pytest.mark.parametrize("name", RECORDINGS)
def test_nothing_is_unknown_and_facts_are_there(home: OpenHome, name: str) -> None:
    for session in home(name).names():
        facts = home(name).read(session).facts
        assert facts.unknown == {}
        assert facts.project_path == "/home/dev/codex-lab/acme-api"
        assert (facts.git_branch, facts.title is None, facts.model is None) == (
            "main",
            False,
            False,
        )
        assert facts.started_at is not None
        assert facts.updated_at is not None
        assert "2026-11-30T14:2" in facts.started_at < facts.updated_at


@pytest.mark.parametrize("name", RECORDINGS)
def test_no_typed_text_comes_from_the_program(home: OpenHome, name: str) -> None:
    for session in home(name).names():
        for text in home(name).whole(session).of("user"):
            assert not re.search(
                r"<(environment_context|user_instructions)>|AGENTS\.md instr|</image", text
            )


def only(home: OpenHome, name: str) -> Read:
    [session] = home(name).names()
    return home(name).read(session)


def test_code_mode_keeps_the_calls_inside_a_script(home: OpenHome) -> None:
    got = only(home, "code-mode-exec-tool")
    calls = [m for m in got.messages if m.kind == "tool_call"]
    assert [(tool_of(m).name, m.metadata.get("nested", False)) for m in calls] == [
        ("exec", False),
        ("exec_command", True),
        ("exec", False),
        ("apply_patch", True),
        ("exec", False),
    ]
    assert [tool_of(m).is_error for m in calls] == [False, False, False, False, True]
    assert calls[3].metadata["files"] == ["/home/dev/codex-lab/acme-api/src/app.py"]
    assert "return a - b" in tool_of(calls[1]).output
    assert got.facts.model == "gpt-6.1-sol"
    assert got.facts.tokens == 5120


@pytest.mark.parametrize(
    ("name", "summary", "items"),
    [
        ("compaction-auto", "SUMMARY: user wants add() fixed", 5),
        ("tui-manual-compact", "SUMMARY-TUI: code word FINCH-2.", 4),
        ("v077-tui-compact", None, None),
    ],
)
def test_compaction_is_a_mark_and_its_summary_no_answer(
    home: OpenHome, name: str, summary: str | None, items: int | None
) -> None:
    got = only(home, name)
    [mark] = [m for m in got.messages if m.event_type == "compacted"]
    assert mark.kind == "system"
    assert mark.text.startswith("Another language model started")
    assert mark.metadata.get("replacement_items") == items
    before = [m for m in got.messages if m.event_type.endswith("/compaction_output")]
    assert [m.text.startswith(summary or "") for m in before] == ([True] if summary else [])
    index = got.messages.index(mark)
    assert {"user", "assistant"} <= {m.kind for m in got.messages[:index]}
    assert {"user", "assistant"} <= {m.kind for m in got.messages[index:]}


def test_fork_composed_with_its_base_is_the_whole_conversation(home: OpenHome) -> None:
    opened = home("resumed-and-forked")
    alone, whole = opened.read(FORK), opened.whole(FORK)
    assert alone.of("user", "assistant") == ["Forked question FORK-Q", "Forked answer FORK-C."]
    assert whole.of("user", "assistant") == [
        "Root question ROOT-Q",
        "Root answer ROOT-A.",
        "Resumed question RES-Q",
        "Resumed answer RES-B.",
        "Forked question FORK-Q",
        "Forked answer FORK-C.",
    ]
    [call] = [m for m in whole.messages if m.kind == "tool_call"]
    assert "Tiny demo service." in tool_of(call).output
    for facts in (alone.facts, whole.facts):
        assert facts.relation == "fork"
        assert facts.parent_session == "01a22cd6-8c16-7300-a106-b5b9488bca1c"
        assert (facts.started_at, facts.title) == (
            "2026-11-30T14:23:09.329Z",
            "Forked question FORK-Q",
        )
        assert facts.tokens == 1280


def test_one_file_continued_by_three_versions(home: OpenHome) -> None:
    got = only(home, "v0125-resumed-by-v0171")
    assert [text.split()[-1] for text in got.of("user")] == ["OLD-Q", "NEW-Q", "BACK-Q"]
    assert got.of("assistant") == [
        "Answer from the old version OLD-A.",
        "Old version done.",
        "New version answer NEW-A.",
        "Old version again BACK-A.",
    ]
    assert (got.facts.relation, got.facts.tokens) == (None, 6400)


def test_oldest_version(home: OpenHome) -> None:
    got = only(home, "v045-chat-wire")
    assert got.kinds() == [
        "system",
        "system",
        "user",
        "assistant",
        "user",
        "tool_call",
        "tool_result",
        "assistant",
    ]
    result = next(m for m in got.messages if m.kind == "tool_result")
    assert (result.text, tool_of(result).name) == ("AGENTS.md\nREADME.md\nsrc\n", "shell")
    assert (tool_of(result).is_error, got.facts.tokens) == (False, 0)


def test_reasoning_stands_once(home: OpenHome) -> None:
    for name in ("tools-shell-and-patch", "v0125-tools", "v077-tools"):
        thoughts = only(home, name).of("reasoning")
        assert thoughts == ["**Exploring the project**\n\nI should look at the files first."]


def test_names_come_from_the_index(home: OpenHome) -> None:
    named = only(home, "tui-multi-turn-named").facts
    assert (named.title, named.title_source) == ("Sum fixing", "name")
    unnamed = only(home, "tui-manual-compact").facts
    assert (unnamed.title, unnamed.title_source) == ("Code word FINCH-2", "prompt")


def test_an_image_is_part_of_its_prompt(home: OpenHome) -> None:
    got = only(home, "image-attachment")
    assert got.of("user")[0] == "[image /home/dev/codex-lab/shot.png]\nDescribe this picture"
    assert got.of("tool_result") == ["[image image/png]"]
    assert got.facts.title == "Describe this picture"


@pytest.mark.parametrize("marked", [True, False])
def test_fork_by_copy_holds_the_whole_conversation(
    home: OpenHome, read: Reading, say: Say, marked: bool
) -> None:
    """As 0.125 writes it, and 0.77 and 0.45 without the mark (made from a recording)."""
    [path] = (FIXTURES / "v0125-tools").rglob("rollout-*.jsonl")
    lines = [json.loads(line) for line in path.read_text().split("\n") if line]
    source = lines[0]["payload"]["id"]
    more = {"forked_from_id": source} if marked else {}
    meta = {**say.meta(**more), "timestamp": "2026-11-30T15:00:00.000Z"}
    got, original = read(meta, *lines, *say.turn("forked q", "forked a")), only(home, "v0125-tools")
    assert got.of("user") == [*original.of("user"), "forked q"]
    assert got.of("assistant") == [*original.of("assistant"), "forked a"]
    assert len(got.of("tool_call")) == len(original.of("tool_call"))
    assert (got.facts.relation, got.facts.parent_session) == ("fork", source)
    assert (got.facts.tokens, original.facts.tokens) == (0, 13110)
    assert (got.facts.project_path, got.facts.started_at) == ("/w", "2026-11-30T10:00:00.000Z")
