"""What `sessions` says of a session beyond its messages, from outside."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from blackbox import ClaudeSession, Home

pytestmark = pytest.mark.timeout(120)

DAY = 86400


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def claude_lines(home: Home, session: str, records: list[dict[str, Any]], **more: Any) -> Path:
    path = home.claude / "projects" / "-w-app" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    base = {"sessionId": session, "cwd": "/w/app", "version": "2.1.332", "isSidechain": False}
    with path.open("a") as out:
        for n, record in enumerate(records):
            place = {"uuid": f"{session[:-4]}{n:04x}", "timestamp": f"2026-11-30T10:00:{n:02}.000Z"}
            out.write(json.dumps(base | place | more | record) + "\n")
    return path


def answer(name: str, *blocks: dict[str, Any], usage: dict[str, int]) -> dict[str, Any]:
    message = {"id": name, "role": "assistant", "model": "claude-opus-5-5", "usage": usage}
    return {"type": "assistant", "message": message | {"content": list(blocks)}}


def call(name: str, tool: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": tool, "input": given}


def result(name: str, *, failed: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": name, "content": "x", "is_error": failed}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


UUID = "00000000-0000-4000-8000-000000000001"


def test_usage_counts_each_answer_once_and_files_each_changed_one(home: Home) -> None:
    spent = {"input_tokens": 10, "output_tokens": 3, "cache_read_input_tokens": 7}
    claude_lines(
        home,
        UUID,
        [
            {"type": "user", "message": {"role": "user", "content": "go"}},
            answer("m1", {"type": "text", "text": "a"}, usage=spent),
            answer("m1", call("t1", "Write", file_path="/w/app/a.py"), usage=spent),
            result("t1"),
            answer("m2", call("t2", "Edit", file_path="/w/app/./a.py"), usage={"input_tokens": 1}),
            result("t2"),
            answer("m3", call("t3", "Edit", file_path="/w/app/b.py"), usage={"output_tokens": 2}),
            result("t3", failed=True),
            answer("m4", call("t4", "Read", file_path="/w/app/c.py"), usage={}),
            result("t4"),
        ],
    )
    home.once()
    (row,) = home.json("sessions")
    assert row["usage"] == {"input_tokens": 11, "output_tokens": 5, "cache_read_tokens": 7}
    assert row["tokens"] == 16
    assert row["files"] == ["/w/app/a.py"]


def test_sub_agents_fold_under_their_parent(home: Home) -> None:
    chat = ClaudeSession(home, session=UUID)
    chat.append(["do it", "done"])
    folder = chat.path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    for name in ("a1", "b2"):
        record = {
            "type": "user", "uuid": f"u-{name}", "sessionId": UUID, "agentId": name,
            "cwd": "/w/app", "isSidechain": True, "timestamp": "2026-11-30T10:00:00.000Z",
            "message": {"role": "user", "content": "count"},
        }  # fmt: skip
        (folder / f"agent-{name}.jsonl").write_text(json.dumps(record) + "\n")
    home.once()
    (row,) = home.json("sessions")
    assert (row["session_id"], row["children"]) == (UUID, 2)
    rows = home.json("sessions", "--all")
    assert sorted(r["children"] for r in rows) == [0, 0, 2]
    assert "(+2 sub-agents)" in home.run("sessions").stdout


def test_folder_exists_says_whether_the_project_is_still_there(home: Home) -> None:
    project = home.folder / "code"
    project.mkdir()
    claude_lines(home, UUID, [{"type": "user", "message": {"content": "a"}, "cwd": str(project)}])
    home.once()
    assert home.json("sessions")[0]["folder_exists"] is True
    project.rmdir()
    assert home.json("sessions")[0]["folder_exists"] is False


def test_a_session_is_listed_gone_or_hidden_and_the_filters_find_it(home: Home) -> None:
    there, gone = ClaudeSession(home), ClaudeSession(home)
    by_sdk = "00000000-0000-4000-8000-00000000000a"
    for chat in (there, gone):
        chat.append(["hello", "hi"])
    prompt = {"type": "user", "message": {"role": "user", "content": "sdk"}}
    claude_lines(home, by_sdk, [prompt], entrypoint="sdk-cli")
    elsewhere = ClaudeSession(home, project="-other-folder")
    elsewhere.append(["moved"])
    home.once()
    gone.path.unlink()
    places = {row["session_id"]: row for row in home.json("sessions")}
    assert places[there.session]["place"] == "listed"
    assert places[there.session]["place_reason"] is None
    assert places[gone.session]["place"] == "gone"
    assert places[by_sdk]["place"] == "hidden"
    assert "SDK" in places[by_sdk]["place_reason"]
    assert "another project" in places[elsewhere.session]["place_reason"]
    assert [r["session_id"] for r in home.json("sessions", "--gone")] == [gone.session]
    hidden = {r["session_id"] for r in home.json("sessions", "--hidden")}
    assert hidden == {by_sdk, elsewhere.session}
    assert len(home.json("sessions", "--hidden", "--limit", "1")) == 1
    refused = home.run("sessions", "--gone", "--hidden")
    assert refused.returncode == 2


def test_expiring_sessions_are_those_their_agent_deletes_soon(home: Home) -> None:
    old, new = ClaudeSession(home), ClaudeSession(home)
    for chat in (old, new):
        chat.append(["hello", "hi"])
    home.once()
    days_ago = time.time() - 28 * DAY
    os.utime(old.path, (days_ago, days_ago))
    assert [r["session_id"] for r in home.json("sessions", "--expiring")] == [old.session]
    assert home.json("sessions", "--expiring", "1d") == []
    assert len(home.json("sessions", "--expiring", "40d")) == 2
    (home.claude / "settings.json").write_text('{"cleanupPeriodDays": 365}')
    assert home.json("sessions", "--expiring") == []


def codex_rollout(home: Home, name: str, **meta: Any) -> Path:
    thread = f"01a22cd6-5039-7c11-88d2-{name:0>12}"
    path = home.codex / f"sessions/2026/11/30/rollout-2026-11-30T14-22-52-{thread}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    payload = {"id": thread, "cwd": "/w/app", "cli_version": "0.171.0", "source": "cli"} | meta
    rows = [
        ("session_meta", payload),
        ("event_msg", {"type": "user_message", "message": f"hello {name}"}),
        ("response_item", _item("user", f"hello {name}")),
    ]
    path.write_text("".join(_line(kind, body) for kind, body in rows))
    return path


def _item(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _line(kind: str, payload: dict[str, Any]) -> str:
    stamped = {"timestamp": "2026-11-30T14:22:52.000Z", "type": kind, "payload": payload}
    return json.dumps(stamped) + "\n"


def test_codex_hides_by_provider_source_archive_and_index(home: Home) -> None:
    (home.codex).mkdir()
    (home.codex / "config.toml").write_text('model_provider = "mine"\n')
    listed = codex_rollout(home, "1", model_provider="mine")
    codex_rollout(home, "2", model_provider="other")
    codex_rollout(home, "3", source="exec")
    codex_rollout(home, "4")
    archived = codex_rollout(home, "5")
    (home.codex / "archived_sessions").mkdir()
    shutil.move(archived, home.codex / "archived_sessions" / archived.name)
    with closing(sqlite3.connect(home.codex / "state_5.sqlite")) as index:
        index.execute("CREATE TABLE threads (id TEXT PRIMARY KEY, archived INTEGER)")
        index.execute("CREATE TABLE backfill_state (id INTEGER, status TEXT)")
        index.execute("INSERT INTO backfill_state VALUES (1, 'complete')")
        index.execute("INSERT INTO threads VALUES (?, 0)", (listed.stem[-36:],))
        index.commit()
    home.once()
    rows = {row["session_id"][-1]: row for row in home.json("sessions")}
    assert rows["1"]["place"] == "listed"
    reasons = {name: row["place_reason"] or "" for name, row in rows.items()}
    assert "provider is other" in reasons["2"]
    assert "source is exec" in reasons["3"]
    assert "index does not hold it" in reasons["4"]
    assert "archived" in reasons["5"]
    assert all(row["expires_at"] is None for row in rows.values())


def test_p27_the_model_gets_the_replacement_and_what_came_after(home: Home) -> None:
    path = codex_rollout(home, "27")
    with path.open("a") as out:
        for turn in range(50):
            out.write(_line("response_item", _item("user", f"question {turn}")))
            out.write(_line("event_msg", {"type": "user_message", "message": f"question {turn}"}))
            out.write(_line("event_msg", {"type": "agent_message", "message": f"answer {turn}"}))
            out.write(_line("response_item", _item("assistant", f"answer {turn}")))
        history = [_item("user", "kept prompt"), _item("user", "summary of it all")]
        compacted = {"message": "summary of it all", "replacement_history": history}
        out.write(_line("compacted", compacted))
        for turn in range(50, 53):
            out.write(_line("response_item", _item("user", f"question {turn}")))
            out.write(_line("event_msg", {"type": "user_message", "message": f"question {turn}"}))
            out.write(_line("event_msg", {"type": "agent_message", "message": f"answer {turn}"}))
            out.write(_line("response_item", _item("assistant", f"answer {turn}")))
    home.once()
    (row,) = home.json("sessions")
    live = home.json("show", row["id"], "--as-model")["messages"]
    assert [m["text"] for m in live] == [
        "kept prompt", "summary of it all",
        *(f"{word} {turn}" for turn in range(50, 53) for word in ("question", "answer")),
    ]  # fmt: skip
    assert [m["index"] for m in live] == list(range(8))
    whole = [m["text"] for m in home.json("show", row["id"])["messages"]]
    assert all(f"answer {turn}" in whole for turn in range(53))


def test_compat_check_names_what_is_installed_met_and_new(home: Home) -> None:
    package = home.folder / ".npm-global/lib/node_modules/@openai/codex/package.json"
    package.parent.mkdir(parents=True)
    package.write_text('{"name": "@openai/codex", "version": "9.1.0"}')
    (home.folder / ".local/share/claude/versions/2.1.332").mkdir(parents=True)
    path = codex_rollout(home, "1", cli_version="9.1.0")
    with path.open("a") as out:
        out.write(_line("brand_new", {"x": 1}))
    ClaudeSession(home).append(["hello"])
    home.once()
    agents = {a["agent"]: a for a in home.json("compat", "--check")["agents"]}
    assert ("9.1.0", False) in {(i["version"], i["tested"]) for i in agents["codex"]["installed"]}
    assert ("2.1.332", True) in {(i["version"], i["tested"]) for i in agents["claude"]["installed"]}
    (seen,) = agents["codex"]["met"]
    assert (seen["version"], seen["sessions"], seen["tested"]) == ("9.1.0", 1, False)
    (new,) = agents["codex"]["unknown"]
    assert (new["kind"], new["records"], new["versions"]) == ("brand_new", 1, ["9.1.0"])
    assert [m["version"] for m in agents["claude"]["met"]] == ["2.1.332"]
    assert "brand_new: 1 in 1 session" in home.run("compat", "--check").stdout
    assert home.run("compat").returncode == 0
