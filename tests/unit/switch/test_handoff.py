"""A handoff document: what is in it, and that it keeps to its budget whatever the session holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracontext.errors import WriteRefusedError
from ultracontext.model import Kind, Message, SessionFacts, Tool
from ultracontext.switch.handoff import SMALLEST_BUDGET, Handoff, handoff, tokens_of

ROLES = {"user": "user", "tool_result": "tool", "system": "system"}


def message(kind: Kind, text: str = "", tool: Tool | None = None) -> Message:
    role: Any = ROLES.get(kind, "assistant")
    return Message(id="msg_1", role=role, kind=kind, event_type="x", text=text, tool=tool)


def call(name: str, given: Any, output: str | None = "ok", *, error: bool = False) -> list[Message]:
    tool = Tool(name=name, call_id="c", input=given, output=output, is_error=error)
    made = [message("tool_call", f"{name}()", tool)]
    if output is not None:
        made.append(message("tool_result", output, tool))
    return made


def made(messages: list[Message], budget: int = 8000, **facts: Any) -> Handoff:
    known = SessionFacts(title="Fix the parser", project_path="/home/dev/acme", **facts)
    return handoff(
        messages, known, source="Claude Code", session_id="s-1", masked=False, budget=budget
    )


def section(text: str, title: str) -> str:
    return text.partition(f"## {title}\n")[2].partition("\n## ")[0]


SESSION = [
    message("user", "Fix the parser of dates."),
    message("assistant", "I will use the standard library instead of a new dependency. Looking."),
    *call(
        "Edit",
        {"file_path": "/home/dev/acme/dates.py", "old_string": "bad()", "new_string": "good()"},
    ),
    *call("TodoWrite", {"todos": [
        {"content": "fix it", "status": "completed"}, {"content": "add a test", "status": "pending"}
    ]}),
    message("user", "Do not touch the public API."),
    *call("Bash", {"command": "pytest"}, "1 failed", error=True),
    message("assistant", "One test fails. Shall I mark it as expected?"),
]  # fmt: skip


def test_it_says_where_it_comes_from_and_what_it_is_about() -> None:
    found = made(SESSION, files=["/home/dev/acme/dates.py"])
    assert found.text.startswith("# Handoff: Fix the parser\n")
    for said in ("Claude Code", "- Session: s-1", "- Folder: /home/dev/acme", "no transcript"):
        assert said in found.text
    assert "Fix the parser of dates." in section(found.text, "Task")
    assert "- then: Do not touch the public API." in section(found.text, "Task")


def test_decisions_are_sentences_of_the_session() -> None:
    found = section(made(SESSION).text, "Decisions")
    assert "- the agent: I will use the standard library instead of a new dependency." in found
    assert "- the person: Do not touch the public API." in found
    assert "Looking." not in found


def test_files_come_with_their_diffs() -> None:
    found = section(made(SESSION, files=["/home/dev/acme/dates.py"]).text, "Files")
    assert found.count("/home/dev/acme/dates.py") == 1
    assert "-bad()\n+good()" in found


def test_a_failed_edit_changed_nothing() -> None:
    failed = call("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"}, error=True)
    assert "+y" not in section(made([message("user", "go"), *failed]).text, "Files")


def test_open_ends_are_the_plan_failures_and_questions() -> None:
    found = section(made(SESSION).text, "Open ends")
    assert "- Planned, pending: add a test" in found
    assert "fix it" not in found
    assert "- The call Bash failed" in found
    assert "- Asked: Shall I mark it as expected?" in found


def test_an_unanswered_prompt_and_a_call_without_result_are_open() -> None:
    last = [message("user", "and now?"), *call("Bash", {"command": "x"}, None)]
    found = section(made([*SESSION, *last]).text, "Open ends")
    assert "no answer yet" in found
    assert "- The call Bash has no result" in found


def test_the_last_turns_are_whole_and_the_first_give_way() -> None:
    turns = [
        part
        for number in range(200)
        for part in (
            message("user", f"question {number} " + "q" * 100),
            message("assistant", f"answer {number} " + "a" * 300),
        )
    ]
    found = made(turns, budget=4000)
    assert "answer 199 " in found.text
    assert "answer 3 " not in found.text
    assert 0 < found.whole_turns < found.turns == 200
    assert "earlier turns are left out" in found.text
    assert found.tokens <= 4000


def test_a_session_within_the_budget_is_told_in_full() -> None:
    found = made(SESSION)
    assert found.whole_turns == found.turns == 2
    for said in SESSION:
        assert said.text in found.text
    assert "left out here" not in found.text


def test_masks_are_explained_where_there_are_some() -> None:
    facts = SessionFacts()
    said = [
        handoff(SESSION, facts, source="x", session_id="s", masked=masked).text
        for masked in (False, True)
    ]
    assert ["never write a mask into a file" in text for text in said] == [False, True]


def test_a_fence_outlasts_those_in_the_text() -> None:
    output = "```python\nx\n```\n````"
    found = made([message("user", "go"), *call("Bash", {"command": "cat"}, output)])
    assert f"`````\n{output}\n`````" in found.text


def test_too_small_a_budget_is_refused() -> None:
    with pytest.raises(WriteRefusedError, match="at least 500"):
        made(SESSION, budget=SMALLEST_BUDGET - 1)


TEXTS = st.text(max_size=60) | st.text(st.characters(), max_size=60).map(lambda text: text * 200)
KINDS = st.sampled_from(["user", "assistant", "reasoning", "system", "meta"])
MESSAGES = st.one_of(
    st.builds(message, KINDS, TEXTS),
    st.builds(
        lambda name, text, output, error: message(
            "tool_call", text,
            Tool(
                name=name, call_id="c", output=output, is_error=error,
                input={"file_path": "/p/" + name, "old_string": text, "new_string": output},
            ),
        ),
        st.sampled_from(["Edit", "Bash"]), TEXTS, TEXTS | st.none(), st.booleans() | st.none(),
    ),
    st.builds(lambda text: message("tool_result", text, Tool(name="Bash", call_id="c")), TEXTS),
)  # fmt: skip


@given(
    st.lists(MESSAGES, max_size=12), st.integers(SMALLEST_BUDGET, 6000), st.lists(TEXTS, max_size=4)
)
def test_whatever_it_holds_it_keeps_to_the_budget(
    messages: list[Message], budget: int, files: list[str]
) -> None:
    found = made(messages, budget, files=files)
    assert found.tokens == tokens_of(found.text) <= budget
    for title in ("Task", "Decisions", "Files", "Open ends", "Last turns"):
        assert f"\n## {title}\n" in found.text
    found.text.encode()


def test_lone_surrogates_and_nul_are_replaced() -> None:
    found = made([message("user", "odd \ud800 and \0 here")])
    assert "odd \ufffd and   here" in found.text
