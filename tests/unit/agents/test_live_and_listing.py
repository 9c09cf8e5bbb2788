"""What every agent says beyond messages: usage, files, the live part, its own list."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

import pytest
from recordings import Session, files, minted, play, recordings

from ultracontext.agents import known
from ultracontext.formats import Listing, ListingFacts, LiveReader
from ultracontext.model import Message, SessionFacts

OURS = ("claude", "codex", "cursor", "gemini", "openclaw")
ALL = [(agent, name) for agent in OURS for name in recordings(agent)]
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def live_of(session: Session) -> tuple[list[Message], list[Message], SessionFacts]:
    """Settled messages, live ones, facts."""
    reader = known()[session.agent].reader(session.session_id or "")
    fed = [m for record, name in session.fed for m in reader.feed(record, name)]
    records = {str(name): record for record, name in session.fed}
    settled = reader.settle(fed)
    assert isinstance(reader, LiveReader)
    live = reader.live(settled, lambda name: records.get(name.partition(".")[0]))
    return settled, live, reader.facts()


def texts(agent: str, recording: str, session: int = 0) -> list[str]:
    sessions = list(play(agent, files(agent, recording)).sessions.values())
    return [m.text for m in live_of(sessions[session])[1]]


@pytest.mark.parametrize(("slug", "recording"), ALL)
def test_facts_add_up_and_the_live_part_is_whole(slug: str, recording: str) -> None:
    for session in play(slug, files(slug, recording)).sessions.values():
        settled, live, facts = live_of(session)
        assert all(count > 0 for count in facts.usage.values())
        spent = facts.usage.get("input_tokens", 0) + facts.usage.get("output_tokens", 0)
        assert facts.tokens in (spent, spent + facts.usage.get("reasoning_tokens", 0))
        assert len(set(facts.files)) == len(facts.files)
        assert all(m.kind != "meta" for m in live)
        assert len({m.id for m in live}) == len(live)
        known_ids = {m.id for m in settled}
        strangers = [m for m in live if m.id not in known_ids]
        assert not strangers or slug == "codex"


def test_files_of_the_recordings() -> None:
    found: dict[str, set[str]] = {}
    for agent, recording in ALL:
        for session in play(agent, files(agent, recording)).sessions.values():
            names = live_of(session)[2].files
            found.setdefault(agent, set()).update(name.rpartition("/")[2] for name in names)
    assert found["claude"] >= {"calc.py", ".env"}
    assert found["codex"] >= {"app.py"}
    assert found["cursor"] >= {"math.js", "math.md"}
    assert found["gemini"] >= {"math.md"}
    assert found["openclaw"] >= {"out.txt"}


def test_claude_sends_the_summary_what_it_preserved_and_what_came_after() -> None:
    shown = texts("claude", "v2.0-compaction")
    assert shown[0].endswith("The port is 8417..")
    assert shown[-2:] == ["What was the port?", "8417."]
    assert len(shown) == 7


def test_claude_puts_preserved_messages_behind_the_summary() -> None:
    def line(n: int, kind: str, **more: Any) -> dict[str, Any]:
        message = {"role": kind, "content": f"t{n}"}
        base = {"type": kind, "uuid": f"u{n}", "parentUuid": f"u{n - 1}", "message": message}
        return base | {"timestamp": f"2026-11-30T10:00:0{n}.000Z"} | more

    metadata = {"preservedMessages": {"uuids": ["u2"]}}
    boundary = {
        "type": "system", "subtype": "compact_boundary", "uuid": "u3", "parentUuid": None,
        "logicalParentUuid": "u2", "compactMetadata": metadata, "content": "c",
    }  # fmt: skip
    lines = [line(1, "user"), line(2, "user"), boundary]
    lines += [line(4, "user", isCompactSummary=True), line(5, "user")]
    session = Session("claude", "s")
    for n, native in enumerate(lines):
        session.fed.append((minted(native, agent="claude"), f"msg_{n}"))  # type: ignore[arg-type]
    assert [m.text for m in live_of(session)[1]] == ["t4", "t2", "t5"]


def test_codex_sends_the_replacement_history_and_what_came_after() -> None:
    shown = texts("codex", "compaction-auto")
    assert shown[0].startswith("First question")
    assert shown[-4:] == [
        "Third question after the limit", "Third answer, after compaction.", "Fourth question",
        "Fourth answer.",
    ]  # fmt: skip
    assert len(shown) == 9


def test_codex_without_a_replacement_history_keeps_the_prompts() -> None:
    shown = texts("codex", "v077-tui-compact")
    assert shown[:2] == ["Code word EGRET-4", "List the files"]
    assert shown[2].startswith("Another language model")
    assert shown[3] == "What now?"


def test_gemini_sends_the_summary_before_what_it_kept() -> None:
    shown = texts("gemini", "tui-compress")
    assert shown[1].startswith("<state_snapshot>")
    assert shown[2].startswith("Got it")
    assert shown[3:5] == ["And the refill rate", "Second answer: refill ten a second."]
    assert "Answer after the compression." in shown[-1]


def test_gemini_leaves_out_what_was_rewound() -> None:
    shown = texts("gemini", "tui-rewind-esc")
    assert [t for t in shown if t.startswith("Question")] == [
        "Question one", "Question two", "Question five",
    ]  # fmt: skip


@pytest.mark.parametrize("recording", ["v7-compaction", "v9-compaction"])
def test_openclaw_sends_the_summary_and_what_it_kept(recording: str) -> None:
    shown = texts("openclaw", recording)
    assert shown[0].startswith("## ")
    assert shown[1].startswith("Ack three.")
    assert shown[-1] == "MAGENTA-31 again."
    assert len(shown) == 6


# ---- the agents' own lists -----------------------------------------------------------------------
def judged(agent: str, path: str, found: dict[str, Any] | None = None, **facts: Any) -> Listing:
    spec = known()[agent]
    source = spec.classify(PurePosixPath(path))
    assert source is not None
    assert spec.listing is not None
    return spec.listing(
        ListingFacts(
            session_id="s1", facts=SessionFacts(**facts), source=source,
            path=PurePosixPath(path), modified_at=NOW, found=found or {},
        )
    )  # fmt: skip


UUID = "00000000-0000-4000-8000-000000000001"
CLAUDE = f"projects/-w-app/{UUID}.jsonl"


def test_claude_keeps_files_as_long_as_its_settings_say() -> None:
    def days(text: str | None) -> int | None:
        when = judged("claude", CLAUDE, {"settings": text}).expires_at
        return None if when is None else (when - NOW).days

    assert days(None) == 30
    assert days('{"cleanupPeriodDays": 7}') == 7
    assert days('{"cleanupPeriodDays": "x"}') == days("[]") == days("{") == days("{}") == 30
    assert days('{"cleanupPeriodDays": 99999999}') == 30


def test_claude_hides_by_name_origin_and_folder() -> None:
    assert judged("claude", CLAUDE, project_path="/w/app").hidden is None
    assert judged("claude", CLAUDE).hidden is None
    assert "another project" in (judged("claude", CLAUDE, project_path="/w/b").hidden or "")
    assert judged("claude", CLAUDE, project_path="/w/[redacted:x:1]").hidden is None
    assert "UUID" in (judged("claude", "projects/-w-app/notes.jsonl").hidden or "")
    assert "SDK" in (judged("claude", CLAUDE, traits={"entrypoint": "sdk-py"}).hidden or "")
    assert judged("claude", f"projects/-w-app/{UUID}/subagents/agent-a.jsonl").hidden is None


GEMINI = "tmp/app/chats/session-2026-11-30T10-00-abc.jsonl"
OLD = "2026-11-01T00:00:00.000Z"


def test_gemini_keeps_sessions_by_their_last_update() -> None:
    def days(text: str | None) -> int | None:
        sent = {"sent": "yes"}
        when = judged("gemini", GEMINI, {"settings": text}, updated_at=OLD, traits=sent).expires_at
        return None if when is None else (when - datetime.fromisoformat(OLD)).days

    def retention(**value: Any) -> str:
        return json.dumps({"general": {"sessionRetention": value}})

    assert days(None) == days("{") == days(retention()) == 30
    assert days(retention(maxAge="2w")) == 14
    assert days(retention(maxAge="99999m")) is None
    assert days(retention(enabled=False)) is None


def test_gemini_hides_what_cannot_be_resumed() -> None:
    assert judged("gemini", GEMINI, traits={"sent": "yes"}).hidden is None
    assert "nothing that a resume" in (judged("gemini", GEMINI).hidden or "")
    other = judged("gemini", "tmp/app/chats/mine.jsonl", traits={"sent": "yes"})
    assert other.hidden is not None
    assert other.expires_at is None
    assert judged("gemini", "tmp/app/chats/parent/agent.jsonl") == Listing()


def test_openclaw_goes_by_its_index_and_by_its_nodes() -> None:
    file, database = "agents/main/sessions/s1.jsonl", "agents/main/agent/openclaw-agent.sqlite"
    assert judged("openclaw", file, {"index": "{}"}).hidden is not None
    entry = json.dumps({"k": {"sessionId": "s1", "updatedAt": 1796000000000}})
    listed = judged("openclaw", file, {"index": entry})
    assert listed.hidden is None
    assert listed.expires_at is not None
    assert "reset" in (judged("openclaw", f"{file}.reset.2026-11-30T10").hidden or "")
    held = {"events": [(1,)], "node": [(0, 1)]}
    assert judged("openclaw", database, held) == Listing()
    assert judged("openclaw", database, held | {"events": []}).gone
    assert judged("openclaw", database, held | {"node": [(1, 1)]}).hidden is not None
    assert judged("openclaw", database, held | {"node": [(0, 0)]}).hidden is not None
    assert judged("openclaw", database, held | {"node": None}).hidden is None


def test_cursor_goes_by_the_list_of_the_ide() -> None:
    state = "globalStorage/state.vscdb"
    here = {"row": [(1,)], "headers": [(1,)], "header": [(None,)]}
    assert judged("cursor", state, here) == Listing()
    assert judged("cursor", state, here | {"row": []}).gone
    assert judged("cursor", state, here | {"header": []}).hidden is not None
    assert judged("cursor", state, here | {"header": [], "headers": []}).hidden is None
    assert judged("cursor", state, here | {"header": [(1,)]}).hidden is not None
    assert judged("cursor", "projects/p/agent-transcripts/s1/s1.jsonl").hidden is not None
    assert judged("cursor", "chats/md5/s1/store.db") == Listing()


def test_codex_names_hold_no_thread() -> None:
    assert judged("codex", "session_index.jsonl").gone
