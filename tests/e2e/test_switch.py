"""`switch`, `restore`, `heal` and `relocate` as a person uses them, without a daemon."""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from program import Person, Result
from switch_lab import result, tree, use

pytestmark = pytest.mark.timeout(240)

KEY = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"
TO_CODEX = ("switch", "codex", "--target-version", "0.171.0", "--force")


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    one = Person(path=tmp_path.resolve())
    (one.path / "app").mkdir()
    yield one
    one.end()


def talk(
    person: Person, name: str = "a", *, ago: timedelta = timedelta(hours=1), folder: str = "app",
    extra: tuple[tuple[str, Any], ...] = (),
) -> str:  # fmt: skip
    """A session of Claude Code about a folder; gives its id."""
    session = f"00000000-0000-4000-8000-{name.encode().hex():0>12}"
    where = person.path / folder
    slug = "".join(c if c.isalnum() else "-" for c in str(where))
    said = (
        ("user", f"Fix the build of {name}."),
        ("assistant", [use("Bash", {"command": "make"}, "toolu_1")]),
        ("user", [result("toolu_1", "it works")]),
        ("assistant", f"Done with {name}."),
        *extra,
    )
    began = datetime.now(UTC) - ago - timedelta(seconds=len(said))
    lines = []
    for number, (kind, content) in enumerate(said):
        message: dict[str, Any] = {"role": kind, "content": content}
        if kind == "assistant":
            blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
            message |= {"id": f"m{number}", "model": "claude-x", "content": blocks}
        stamp = (began + timedelta(seconds=number)).isoformat(timespec="milliseconds")
        lines.append(
            {
                "type": kind, "uuid": f"{name}{number}", "sessionId": session,
                "parentUuid": f"{name}{number - 1}" if number else None, "version": "2.1.332",
                "timestamp": stamp.replace("+00:00", "Z"), "cwd": str(where), "message": message,
            }
        )  # fmt: skip
    text = "".join(json.dumps(line) + "\n" for line in lines)
    file = person.write(f".claude/projects/{slug}/{session}.jsonl", text)
    stamp_of = (began + timedelta(seconds=len(said))).timestamp()
    os.utime(file, (stamp_of, stamp_of))
    return session


def here(person: Person, *words: str, folder: str = "app", **env: str) -> Result:
    """A command in the project's folder."""
    moved = Elsewhere(path=person.path)
    moved.folder = person.path / folder
    return moved.run(*words, env={"PWD": str(moved.folder), **env})


class Elsewhere(Person):
    folder: Path

    def run(self, *arguments: str, env: Any = None, timeout: float = 60) -> Result:
        import subprocess

        from program import PROGRAM

        before = time.monotonic()
        done = subprocess.run(
            [*PROGRAM, *arguments], env=self.env | dict(env or {}), cwd=self.folder,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False,
        )  # fmt: skip
        out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        assert "Traceback" not in err + out, err
        return Result(code=done.returncode, out=out, err=err, seconds=time.monotonic() - before)


def test_the_newest_session_of_this_folder_continues_in_one_command(person: Person) -> None:
    talk(person, "old", ago=timedelta(hours=5))
    newest = talk(person, "new")
    talk(person, "other", ago=timedelta(minutes=1), folder="elsewhere")
    done = here(person, *TO_CODEX)
    assert done.code == 0, done.err
    assert newest in done.err
    assert 'Claude Code "Fix the build of new.", 1 hour ago, 4 messages' in done.err
    (line,) = done.out.splitlines()
    words = shlex.split(line)
    assert words[:4] == ["cd", str(person.path / "app"), "&&", "codex"]
    (written,) = (person.path / ".codex").rglob("*.jsonl")
    assert words[4:] == ["resume", written.stem[-36:]]
    assert "Done with new." in written.read_text()


def test_json_has_the_promised_shape_and_list_and_undo_go_with_it(person: Person) -> None:
    source = talk(person)
    found = here(person, *TO_CODEX, "--json").data
    assert found.keys() >= {
        "session_id", "agent", "path", "command", "verdict", "messages", "tool_calls", "losses",
        "undo",
    }  # fmt: skip
    assert (found["agent"], found["messages"], found["tool_calls"]) == ("codex", 4, 1)
    assert Path(found["path"]).is_file()
    (row,) = person.run("switch", "list", "--json").data
    assert row["session_id"] == found["session_id"]
    assert row["state"] == "written"
    assert row["from"]["session_id"] == source
    assert row["from"]["context_id"].startswith("ctx_")
    assert person.run("switch", "undo", found["undo"]).code == 0
    assert not Path(found["path"]).exists()
    assert list((person.path / ".codex").rglob("*")) == []
    assert person.run("switch", "undo", found["undo"]).code == 1


def test_nothing_is_written_by_a_dry_run(person: Person) -> None:
    talk(person)
    before = tree(person.path / ".claude")
    found = here(person, *TO_CODEX, "--dry-run", "--json").data
    assert found["dry_run"]
    assert found["undo"] is None
    assert not (person.path / ".codex").exists()
    assert tree(person.path / ".claude") == before
    assert person.run("switch", "list", "--json").data == []


def test_two_sessions_at_work_are_asked_about_and_refused_without_a_terminal(
    person: Person,
) -> None:
    first = talk(person, "a", ago=timedelta(minutes=1))
    second = talk(person, "b", ago=timedelta(minutes=2))
    done = here(person, *TO_CODEX)
    assert done.code == 3
    assert first in done.err
    assert second in done.err
    assert here(person, *TO_CODEX, "--session", second).code == 0


def test_a_copy_that_nobody_went_on_with_is_no_second_session(person: Person) -> None:
    source = talk(person, ago=timedelta(minutes=1))
    assert here(person, *TO_CODEX).code == 0
    done = here(person, "switch", "gemini", "--target-version", "0.61.0", "--force")
    assert done.code == 0, done.err
    assert source in done.err


def test_never_a_session_of_another_folder(person: Person) -> None:
    talk(person, folder="elsewhere")
    done = here(person, *TO_CODEX)
    assert done.code == 1
    assert "no session of" in done.err
    assert not (person.path / ".codex").exists()


def test_the_git_root_comes_after_the_folder_itself(person: Person) -> None:
    (person.path / "app/.git").mkdir()
    (person.path / "app/.git/HEAD").write_text("ref: refs/heads/topic\n")
    (person.path / "app/src").mkdir()
    root = talk(person, "root", ago=timedelta(hours=1))
    assert root in here(person, *TO_CODEX, "--dry-run", folder="app/src").err
    below = talk(person, "below", ago=timedelta(hours=9), folder="app/src")
    assert below in here(person, *TO_CODEX, "--dry-run", folder="app/src").err


def test_an_unanswered_prompt_is_sent_by_the_printed_command(person: Person) -> None:
    question = 'And what\'s next: a "b" or $HOME?'
    limit = {"type": "text", "text": "API Error: 429"}
    talk(person, extra=(("user", question),))
    (file,) = (person.path / ".claude").rglob("*.jsonl")
    error = {
        "type": "assistant", "uuid": "e", "parentUuid": "a4", "isApiErrorMessage": True,
        "timestamp": datetime.now(UTC).isoformat(), "error": "rate_limit",
        "message": {"role": "assistant", "model": "<synthetic>", "content": [limit]},
    }  # fmt: skip
    with file.open("a") as out:
        out.write(json.dumps(error) + "\n")
    found = here(person, *TO_CODEX, "--json").data
    assert shlex.split(found["command"])[-1] == question
    written = Path(found["path"]).read_text()
    assert "what's next" not in written
    assert "429" not in written
    kept = here(person, *TO_CODEX, "--no-continue", "--json").data
    assert shlex.split(kept["command"])[-1] == kept["session_id"]
    assert "what's next" in Path(kept["path"]).read_text()


def test_a_record_that_is_being_written_is_waited_for(person: Person) -> None:
    talk(person, ago=timedelta(seconds=1))
    (file,) = (person.path / ".claude").rglob("*.jsonl")
    answer = {
        "type": "assistant", "uuid": "z", "parentUuid": "a3",
        "timestamp": datetime.now(UTC).isoformat(),
        "message": {
            "role": "assistant", "id": "mz",
            "content": [{"type": "text", "text": "the end of it"}],
        },
    }  # fmt: skip
    line = json.dumps(answer) + "\n"
    with file.open("a") as out:
        out.write(line[:90])
    import threading

    def finish() -> None:
        time.sleep(1.2)
        with file.open("a") as out:
            out.write(line[90:])

    writer = threading.Thread(target=finish)
    writer.start()
    found = here(person, *TO_CODEX, "--json").data
    writer.join()
    assert "the end of it" in Path(found["path"]).read_text()


def test_the_same_again_says_so_and_a_grown_source_is_written_anew(person: Person) -> None:
    talk(person)
    first = here(person, *TO_CODEX[:-1], "--force", "--json").data
    listed = person.run("switch", "list", "--json").data
    assert len(listed) == 1
    proof(person)
    again = here(person, *TO_CODEX[:-1], "--json").data
    assert again["session_id"] == first["session_id"]
    assert any("same session" in note for note in again["notes"])
    (file,) = (person.path / ".claude").rglob("*.jsonl")
    more = {
        "type": "user", "uuid": "m1", "parentUuid": "a3", "timestamp": "2027-01-01T00:00:00Z",
        "cwd": str(person.path / "app"), "message": {"role": "user", "content": "more"},
    }  # fmt: skip
    answer = {
        "type": "assistant", "uuid": "m2", "parentUuid": "m1", "timestamp": "2027-01-01T00:00:01Z",
        "message": {"role": "assistant", "id": "m9", "content": [{"type": "text", "text": "yes"}]},
    }  # fmt: skip
    with file.open("a") as out:
        out.write("".join(json.dumps(one) + "\n" for one in (more, answer)))
    third = here(person, *TO_CODEX[:-1], "--json").data
    assert third["session_id"] != first["session_id"]
    assert any("+2 messages since" in note for note in third["notes"])


def proof(person: Person) -> None:
    """Evidence of this machine, as `compat prove` leaves it."""
    runs = [
        {
            "source": "claude", "source_version": "2.1.332", "target": "codex",
            "version": "0.171.0", "date": "2026-11-30", "test": "compat prove", "local": True,
        }
    ]  # fmt: skip
    state = person.home / "state"
    state.mkdir(parents=True, exist_ok=True)
    (state / "proof.json").write_text(json.dumps(runs))


def test_undo_of_a_grown_session_needs_force_and_keeps_a_masked_copy(person: Person) -> None:
    talk(person)
    found = here(person, *TO_CODEX, "--json").data
    item = {
        "timestamp": "2027-01-01T00:00:00.000Z", "type": "response_item",
        "payload": {
            "type": "message", "role": "user",
            "content": [{"type": "input_text", "text": f"my key is {KEY}"}],
        },
    }  # fmt: skip
    with Path(found["path"]).open("a") as out:
        out.write(json.dumps(item) + "\n")
    refused = person.run("switch", "undo", found["undo"])
    assert refused.code == 3
    assert Path(found["path"]).exists()
    (done,) = person.run("switch", "undo", found["undo"], "--force", "--json").data
    assert not Path(found["path"]).exists()
    kept = Path(done["kept"]).read_text()
    assert "my key is [redacted:" in kept
    assert KEY not in kept


def test_unmasked_needs_a_yes_and_is_recorded(person: Person) -> None:
    talk(person, extra=(("user", f"my key is {KEY}"), ("assistant", "I see.")))
    masked = here(person, *TO_CODEX, "--json").data
    assert KEY not in Path(masked["path"]).read_text()
    refused = here(person, *TO_CODEX, "--unmasked", "--json")
    assert refused.code == 3
    assert "--yes" in refused.err
    found = here(person, *TO_CODEX, "--unmasked", "--yes", "--json").data
    assert KEY in Path(found["path"]).read_text()
    (row,) = [r for r in person.run("switch", "list", "--json").data if r["unmasked"]]
    assert row["session_id"] == found["session_id"]
    lines = (person.home / "state/audit.jsonl").read_text().splitlines()
    audit = [json.loads(line) for line in lines]
    assert [e["unmasked"] for e in audit if e["action"] == "switch"][-1] is True
    ours = [p for p in person.home.rglob("*") if p.is_file()]
    assert not any(KEY.encode() in p.read_bytes() for p in ours)


def test_the_gate_turns_away_what_was_not_run(person: Person) -> None:
    talk(person)
    untested = here(person, "switch", "codex", "--target-version", "0.999.0")
    assert untested.code == 3
    assert "compat prove" in untested.err
    unknown = here(person, "switch", "nobody")
    assert unknown.code == 3
    assert "claude, codex" in unknown.err
    assert here(person, "switch").code == 2
    assert here(person, "switch", "codex", "--to", "gemini").code == 2
    assert here(person, "switch", "codex", "--last", "0").code == 2
    assert not (person.path / ".codex").exists()


def test_a_session_whose_folder_is_gone_needs_a_folder(person: Person) -> None:
    session = talk(person, folder="gone")
    done = here(person, *TO_CODEX, "--session", session)
    assert done.code == 3
    assert "--cwd" in done.err
    assert here(person, *TO_CODEX, "--session", session, "--cwd", ".").code == 0


def test_all_writes_each_once_and_one_undo_takes_all_back(person: Person) -> None:
    for name in ("a", "b"):
        talk(person, name)
    talk(person, "gone", folder="gone")
    done = here(person, *TO_CODEX, "--all", "--json")
    assert done.code == 1
    states = sorted(one["state"] for one in done.data["sessions"])
    assert states == ["failed", "written", "written"]
    again = here(person, *TO_CODEX, "--all", "--project", ".", "--json")
    assert again.code == 0
    assert {one["state"] for one in again.data["sessions"]} == {"unchanged"}
    assert person.run("switch", "undo", done.data["undo"]).code == 0
    assert list((person.path / ".codex").rglob("*.jsonl")) == []


def test_a_handoff_is_a_document_and_a_command(person: Person) -> None:
    talk(person)
    found = here(person, "switch", "cursor", "--json").data
    assert found["verdict"] == "handoff"
    text = Path(found["path"]).read_text()
    assert "Fix the build of a." in text
    assert found["command"].endswith(f'cursor-agent "$(cat {found["path"]})"')
    other = here(person, "switch", "codex", "--handoff", "--json").data
    assert other["command"].startswith(f"cd {person.path / 'app'} && codex ")
    assert person.run("switch", "undo", found["undo"]).code == 0
    assert not Path(found["path"]).exists()


def test_a_deleted_session_comes_back(person: Person) -> None:
    session = talk(person)
    person.run("daemon", "run", "--once")
    (file,) = (person.path / ".claude").rglob("*.jsonl")
    file.unlink()
    words = ("restore", session, "--target-version", "2.1.332", "--force", "--json")
    found = here(person, *words).data
    assert found["agent"] == "claude"
    assert "Done with a." in Path(found["path"]).read_text()
    assert person.run("switch", "undo", found["undo"]).code == 0
    person.write("uc/none", "")
    gone = here(person, "restore", "--gone", "--json")
    assert {one["from"]["session_id"] for one in gone.data["sessions"]} == {session}
    assert here(person, "restore").code == 2


def test_heal_writes_a_clean_copy(person: Person) -> None:
    talk(
        person,
        extra=(
            ("user", "odd \ud800 text"),
            ("assistant", [use("Bash", {}, "toolu_9")]),
            ("user", "and on"),
            ("assistant", [{"type": "thinking", "thinking": "x", "signature": "bad"}]),
            ("assistant", "fine"),
        ),
    )
    found = here(person, "heal", "--target-version", "2.1.332", "--force", "--json").data
    text = Path(found["path"]).read_text()
    assert "thinking" not in text
    assert "\\ud800" not in text
    kinds = {loss["kind"] for loss in found["losses"]}
    assert kinds == {"text_safety", "orphan", "thinking"}


def test_relocate_writes_sessions_for_the_new_folder(person: Person) -> None:
    session = talk(person)
    (person.path / "app").rename(person.path / "moved")
    old, new = str(person.path / "app"), str(person.path / "moved")
    here(person, "relocate", old, new, folder="moved")
    assert len(list((person.path / ".claude").rglob("*.jsonl"))) == 1
    package = person.path / ".local/lib/node_modules/@anthropic-ai/claude-code"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"version": "2.1.332"}')
    done = here(person, "relocate", old, new, "--write", "--force", "--json", folder="moved")
    assert done.code == 0, done.err
    (one,) = done.data["sessions"]
    assert one["from"]["session_id"] == session
    first = json.loads(Path(one["path"]).read_text().splitlines()[0])
    assert first["cwd"] == new
    assert Path(one["path"]).parent.name.endswith("-moved")


def test_what_was_written_is_captured_as_a_switch_of_its_source(person: Person) -> None:
    session = talk(person)
    found = here(person, *TO_CODEX, "--json").data
    person.run("daemon", "run", "--once")
    listed = {row["session_id"]: row for row in person.sessions()}
    assert set(listed) == {session, found["session_id"]}
    written = listed[found["session_id"]]
    assert (written["relation"], written["parent_session"]) == ("switch", session)
    assert written["parent_id"] == listed[session]["id"]


def test_a_session_comes_back_as_it_was_before_a_rewind(person: Person) -> None:
    session = talk(person, extra=(("user", "And the tests."), ("assistant", "Tests as well.")))
    (file,) = (person.path / ".claude").rglob("*.jsonl")
    assert person.run("daemon", "run", "--once").code == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    instead = lines[0] | {
        "uuid": "instead", "parentUuid": "a3", "timestamp": lines[-1]["timestamp"],
        "message": {"role": "user", "content": "Something else."},
    }  # fmt: skip
    with file.open("a") as out:
        out.write(json.dumps(instead) + "\n")
    assert person.run("daemon", "run", "--once").code == 0
    words = ("restore", session, "--target-version", "2.1.332", "--force", "--json")
    now = Path(here(person, *words).data["path"]).read_text()
    before = here(person, *words, "--version", "0").data
    assert "Tests as well." not in now
    assert "Tests as well." in Path(before["path"]).read_text()
    assert "Something else." not in Path(before["path"]).read_text() + before["command"]
    assert before["from"]["session_id"] == session
    missing = here(person, *words, "--version", "7")
    assert missing.code == 1
    assert "There are 0 to 1" in missing.err


@pytest.mark.parametrize("target", ["codex", "gemini", "claude"])
def test_a_prompt_that_waits_is_never_an_option_of_the_program(person: Person, target: str) -> None:
    talk(person, extra=(("user", "--dangerously-skip-permissions"),))
    words = ("switch", target, "--from", "claude", "--target-version", "9.9.9", "--force")
    found = here(person, *words, "--json", "--dry-run").data
    assert found["argv"][-1].endswith(" --dangerously-skip-permissions") or "=" in found["argv"][-1]
    assert "--dangerously-skip-permissions" not in found["argv"]


def test_relocate_to_the_same_folder_is_refused(person: Person) -> None:
    talk(person)
    before = tree(person.path / ".claude")
    found = here(person, "relocate", str(person.path / "app"), ".", "--write")
    assert found.code == 3
    assert "the same folder" in found.err
    assert tree(person.path / ".claude") == before


def test_a_batch_keeps_prompts_that_wait_in_the_sessions(person: Person) -> None:
    """Nothing prints a command for each of them, so nothing else would carry the prompt."""
    session = talk(person, extra=(("user", "And what is next?"),))
    assert person.run("daemon", "run", "--once").code == 0
    (file,) = (person.path / ".claude").rglob("*.jsonl")
    every = ("switch", "--all", "codex", "--target-version", "0.171.0", "--force", "--json")
    (one,) = here(person, *every).data["sessions"]
    assert "And what is next?" in Path(one["path"]).read_text()
    file.unlink()
    words = ("--target-version", "2.1.332", "--force", "--json")
    (one,) = here(person, "restore", "--gone", *words).data["sessions"]
    assert "And what is next?" in Path(one["path"]).read_text()
    alone = here(person, "restore", session, *words).data
    assert "And what is next?" in Path(alone["path"]).read_text()
    assert "next" not in alone["command"]


def test_a_session_that_was_deleted_since_is_no_earlier_one(person: Person) -> None:
    talk(person)
    first = here(person, *TO_CODEX, "--json").data
    Path(first["path"]).unlink()
    assert here(person, *TO_CODEX, "--json").data["notes"] == []
    beside = here(person, *TO_CODEX, "--last", "1", "--json").data["notes"]
    assert any("with as many messages" in note for note in beside)
