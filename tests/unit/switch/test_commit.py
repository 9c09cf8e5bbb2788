"""All or nothing: a failure at any step leaves the target as it was."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from recordings import files
from switch_lab import VERSIONS, Lab, claude_lines, spoken, threads, tree, used_home

from ultracontext.errors import UltraContextError, WriteRefusedError
from ultracontext.model import failpoint
from ultracontext.switch import steps
from ultracontext.switch.commit import clean_up
from ultracontext.switch.done import SwitchError, resolved
from ultracontext.switch.plan import Planned
from ultracontext.switch.session import MaskedSession

POINTS = [name for name in failpoint.NAMES if name.startswith("switch_")]


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    failpoint.arm("")


@pytest.fixture
def named(lab: Lab) -> MaskedSession:
    """A session with a title that a person gave: a target with names gets a line."""
    records = [*spoken(("user", "fix it"), ("assistant", "fixed"))]
    title = {"type": "custom-title", "customTitle": "The fix", "sessionId": records[0]["sessionId"]}
    (found,) = lab.sessions("claude", claude_lines([*records, title]))
    return found


def prepared(lab: Lab, session: MaskedSession, target: str) -> Planned:
    root = lab.root(target)
    if target == "codex":
        used_home(root)
        (root / "session_index.jsonl").write_text('{"id":"t","thread_name":"old"}\n')
    return lab.plan(session, target)


def rows(planned: Planned) -> object:
    return threads(planned.root) if planned.spec.slug == "codex" else None


def files_of(root: Path) -> dict[str, bytes]:
    """Databases are compared by their rows: SQLite counts its changes in the file."""
    return {name: data for name, data in tree(root).items() if "sqlite" not in name}


@pytest.mark.parametrize("target", VERSIONS)
@pytest.mark.parametrize("point", POINTS)
def test_a_failure_at_any_step_leaves_the_target_as_it_was(
    lab: Lab, named: MaskedSession, target: str, point: str
) -> None:
    planned = prepared(lab, named, target)
    if target == "claude" and point in ("switch_step", "switch_stepped"):
        assert planned.plan.steps == ()
        return
    before, indexed = files_of(planned.root), rows(planned)
    failpoint.arm(f"{point}=error")
    with pytest.raises((UltraContextError, OSError)):
        lab.commit(planned)
    assert files_of(planned.root) == before
    assert rows(planned) == indexed
    (row,) = lab.ledger.rows()
    assert row.state == "failed"
    failpoint.arm("")
    assert lab.commit(lab.plan(named, target)).state == "written"


@pytest.mark.parametrize("count", [1, 2])
def test_each_of_several_steps_is_taken_back(lab: Lab, named: MaskedSession, count: int) -> None:
    planned = prepared(lab, named, "codex")
    assert len(planned.plan.steps) == 2
    before, indexed = files_of(planned.root), rows(planned)
    failpoint.arm(f"switch_stepped=error:{count}")
    with pytest.raises(UltraContextError):
        lab.commit(planned)
    assert files_of(planned.root) == before
    assert rows(planned) == indexed


@pytest.mark.parametrize("target", VERSIONS)
@pytest.mark.parametrize("point", POINTS[:-1])
def test_what_a_writer_that_was_killed_had_begun_is_taken_back_later(
    lab: Lab, named: MaskedSession, target: str, point: str
) -> None:
    planned = prepared(lab, named, target)
    if target == "claude" and point in ("switch_step", "switch_stepped"):
        return
    before, indexed = files_of(planned.root), rows(planned)
    code = (
        "import sys; sys.path[:0] = sys.argv[3].split(':')\n"
        "from pathlib import Path\n"
        "from switch_lab import Lab, claude_lines, spoken\n"
        "from ultracontext.model import failpoint\n"
        "lab = Lab(base=Path(sys.argv[1]))\n"
        "machine = lab.machine('claude', lab.root('claude', 'source'))\n"
        "session, = [s for f in machine.files(['claude']) for s in machine.read(f)]\n"
        f"failpoint.arm('{point}=kill')\n"
        "lab.commit(lab.plan(session, sys.argv[2]))\n"
    )
    paths = ":".join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code, str(lab.base), target, paths], check=False, timeout=60
    )
    assert done.returncode == -9
    assert clean_up(lab.ledger, datetime.now(UTC)) == []
    (row,) = clean_up(lab.ledger, datetime.now(UTC) + timedelta(minutes=2))
    assert row.state == "failed"
    assert files_of(planned.root) == before
    assert rows(planned) == indexed


def test_a_written_thread_is_listed_and_named_and_undone(lab: Lab, named: MaskedSession) -> None:
    planned = prepared(lab, named, "codex")
    row = lab.commit(planned)
    (added,) = [r for r in threads(planned.root) if r[0] == row.session_id]
    assert added[1] == row.path
    assert added[4:8] == ("cli", "openai", "/w/app", "The fix")
    names = (planned.root / "session_index.jsonl").read_text().splitlines()
    assert names[0] == '{"id":"t","thread_name":"old"}'
    assert row.session_id in names[1]


def test_a_column_that_is_new_to_us_is_refused(lab: Lab, named: MaskedSession) -> None:
    root = lab.root("codex")
    used_home(root)
    with closing(sqlite3.connect(root / "state_5.sqlite")) as database:
        database.execute("ALTER TABLE threads ADD COLUMN novel TEXT NOT NULL DEFAULT ''")
        database.commit()
    lab.commit(lab.plan(named, "codex"))
    with closing(sqlite3.connect(root / "state_5.sqlite")) as database:
        database.executescript(
            "DROP TABLE threads; CREATE TABLE threads (id TEXT, novel TEXT NOT NULL);"
        )
    with pytest.raises(WriteRefusedError, match="novel"):
        lab.plan(named, "codex")


def test_without_an_index_there_is_only_a_file(lab: Lab, named: MaskedSession) -> None:
    planned = lab.plan(named, "codex")
    lab.commit(planned)
    assert not list(planned.root.glob("*.sqlite*"))


def test_no_file_is_ever_replaced(lab: Lab, named: MaskedSession) -> None:
    planned = lab.plan(named, "claude")
    place = planned.root / planned.plan.files[0].path
    place.parent.mkdir(parents=True)
    place.write_text("somebody's own")
    with pytest.raises(WriteRefusedError, match="there already"):
        lab.commit(planned)
    assert place.read_text() == "somebody's own"
    with pytest.raises(WriteRefusedError, match="there already"):
        steps.write_file(planned.root, planned.plan.files[0], "sw_x")
    assert place.read_text() == "somebody's own"


def test_no_link_is_followed_out_of_the_agents_folder(lab: Lab, named: MaskedSession) -> None:
    outside = lab.base / "outside"
    outside.mkdir()
    root = lab.root("claude")
    root.mkdir(parents=True)
    (root / "projects").symlink_to(outside)
    with pytest.raises(WriteRefusedError, match="leads out of"):
        lab.commit(lab.plan(named, "claude"))
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("path", ["", "/etc/x", "../x", "a/../../x", "a//b", "./a"])
def test_a_path_outside_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(WriteRefusedError):
        resolved(tmp_path, path)


def test_a_root_that_is_a_link_is_the_persons_own_choice(lab: Lab, named: MaskedSession) -> None:
    real = lab.base / "dotfiles"
    real.mkdir()
    root = lab.root("claude")
    root.parent.mkdir(parents=True)
    root.symlink_to(real)
    assert Path(lab.commit(lab.plan(named, "claude")).path).is_file()


def test_a_difference_at_reading_back_fails_and_leaves_nothing(
    lab: Lab, named: MaskedSession
) -> None:
    from dataclasses import replace

    planned = lab.plan(named, "claude")
    first = planned.plan.expected[0]
    expected = (replace(first, text="other"), *planned.plan.expected[1:])
    wrong = replace(planned, plan=replace(planned.plan, expected=expected))
    with pytest.raises(SwitchError, match="reads back differently") as caught:
        lab.commit(wrong)
    assert "fix it" not in str(caught.value)
    assert tree(planned.root) == {} if planned.root.exists() else True


def test_a_secret_in_what_was_written_fails_and_leaves_nothing(
    lab: Lab, named: MaskedSession
) -> None:
    from dataclasses import replace

    key = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"
    planned = lab.plan(named, "claude")
    (file,) = planned.plan.files
    data = file.data.replace(b'"gitBranch":""', f'"gitBranch":"{key}"'.encode())
    assert data != file.data
    wrong = replace(planned, plan=replace(planned.plan, files=(replace(file, data=data),)))
    with pytest.raises(SwitchError, match="would hold a secret"):
        lab.commit(wrong)
    assert not [p for p in planned.root.rglob("*") if p.is_file()]


def test_files_are_private_and_new(lab: Lab) -> None:
    (source,) = lab.sessions("codex", files("codex", "plain-chat"))
    row = lab.commit(lab.plan(source, "claude"))
    found = Path(row.path).stat()
    assert found.st_mode & 0o777 == 0o600
    assert abs(found.st_mtime - datetime.now(UTC).timestamp()) < 60
