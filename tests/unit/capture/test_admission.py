"""Rules at work: what waits, what is left out, and that nothing is lost or repeated by it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from capture_lab import SECRET, TOY, Lab, ToyAssigner, ToyReader, lines

from ultracontext.capture import CaptureEngine, CaptureOptions, Summary
from ultracontext.capture.rules import IGNORE_FILE, Rules
from ultracontext.formats import AgentSpec, Assignment
from ultracontext.model import Message, MessageId
from ultracontext.redaction import MaskedRecord


class PlacedReader(ToyReader):
    """Knows its session's first folder."""

    def feed(self, record: MaskedRecord, message_id: MessageId) -> list[Message]:
        self._facts.project_path = self._facts.project_path or _folder(record)
        return super().feed(record, message_id)


def _folder(record: MaskedRecord) -> str | None:
    cwd = (record.native or {}).get("cwd")
    return cwd if isinstance(cwd, str) else None


SAYS = replace(TOY, reader=PlacedReader, folder_of=_folder)
"""Its records say where the agent works."""
SILENT = replace(TOY, reader=PlacedReader)
"""Only its reader knows."""


class Ruled(Lab):
    spec: AgentSpec = SAYS

    def begin(self, rules: Rules, **options: Any) -> CaptureEngine:
        return CaptureEngine(
            store=self.space, redactor=self.redactor, secret=SECRET, agents=[self.spec],
            roots={"toy": self.roots}, options=CaptureOptions(rules=rules, **options),
            now=lambda: self.now,
        )  # fmt: skip

    def go(self, rules: Rules) -> Summary:
        return self.begin(rules).run_once()


@pytest.fixture(params=[SAYS, SILENT], ids=["says", "silent"])
def lab(tmp_path: Path, request: pytest.FixtureRequest) -> Ruled:
    made = Ruled(tmp_path)
    made.spec = request.param
    return made


@pytest.fixture
def says(tmp_path: Path) -> Ruled:
    return Ruled(tmp_path)


def said(n: int, session: str = "s1", cwd: str | None = None) -> bytes:
    record = {"session": session, "id": f"{session}-{n}", "text": f"t{n}"}
    return json.dumps(record | ({} if cwd is None else {"cwd": cwd})).encode()


def test_an_excluded_project_is_left_out_and_counted(lab: Ruled) -> None:
    lab.write(lines([said(0, "a"), said(1, "a", "/w/secret/x")]), "a.log")
    lab.write(lines([said(0, "b"), said(1, "b", "/w/open")]), "b.log")
    summary = lab.go(Rules(exclude=("/w/secret",)))
    assert lab.sessions() == ["b"]
    assert summary.skipped == {"ignored": 2}
    again = lab.go(Rules(exclude=("/w/secret",)))
    assert (again.events, lab.sessions()) == (0, ["b"])


def test_only_included_projects_are_taken(lab: Ruled) -> None:
    lab.write(lines([said(0, "a", "/w/one")]), "a.log")
    lab.write(lines([said(0, "b", "/w/two")]), "b.log")
    lab.go(Rules(include=("/w/two",)))
    assert lab.sessions() == ["b"]


def test_a_session_without_a_project_waits_until_it_has_one(lab: Ruled) -> None:
    rules = Rules(exclude=("/w/secret",))
    lab.write(lines(said(n) for n in range(3)))
    for _ in range(2):
        assert lab.go(rules).events == 0
    assert lab.sessions() == []
    lab.append(lines([said(3, cwd="/w/open"), said(4)]))
    assert lab.go(rules).events == 5
    assert lab.texts() == ["t0", "t1", "t2", "t3", "t4"]
    assert lab.go(rules).events == 0


def test_a_session_that_waited_and_turns_out_excluded_is_never_stored(lab: Ruled) -> None:
    rules = Rules(exclude=("/w/secret",))
    engine = lab.begin(rules)
    lab.write(lines([said(0), said(1)]))
    engine.run_once()
    lab.append(lines([said(2, cwd="/w/secret")]))
    engine.run_once()
    lab.go(rules)
    assert lab.sessions() == []
    assert engine.status().waiting == 0


def test_one_engine_keeps_the_order_of_a_session_that_waited(lab: Ruled) -> None:
    engine = lab.begin(Rules(exclude=("/w/secret",)))
    lab.write(lines([said(0), said(1)]))
    engine.run_once()
    assert engine.status().waiting == 1
    lab.append(lines([said(2, cwd="/w/open")]))
    engine.run_once()
    assert lab.texts() == ["t0", "t1", "t2"]
    lab.append(lines([said(3)]))
    engine.run_once()
    assert lab.texts() == ["t0", "t1", "t2", "t3"]


def test_without_rules_a_session_of_unknown_project_is_taken(lab: Ruled) -> None:
    lab.write(lines([said(0), said(1)]))
    assert lab.go(Rules()).events == 2


def test_a_waiting_session_does_not_hold_back_others_of_its_source(lab: Ruled) -> None:
    lab.write(lines([said(0, "a")]), "a.log")
    engine = lab.begin(Rules(exclude=("/w/secret",)))
    engine.run_once()
    lab.write(lines([said(0, "b", "/w/open")]), "b.log")
    engine.run_once()
    assert lab.sessions() == ["b"]


def test_an_ignore_file_keeps_its_folder_and_below_out(lab: Ruled, tmp_path: Path) -> None:
    secret = tmp_path / "code" / "secret"
    (secret / "deep").mkdir(parents=True)
    (secret / IGNORE_FILE).touch()
    lab.write(lines([said(0, "a"), said(1, "a", str(secret / "deep"))]), "a.log")
    lab.write(lines([said(0, "b", str(secret.parent))]), "b.log")
    summary = lab.go(Rules())
    assert lab.sessions() == ["b"]
    assert summary.skipped == {"ignored": 2}


def test_an_ignore_file_that_was_met_is_a_rule_that_names_a_project(
    lab: Ruled, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / IGNORE_FILE).touch()
    lab.write(lines([said(0, "a", str(secret))]), "a.log")
    lab.go(Rules())
    lab.write(lines([said(0, "b")]), "b.log")
    assert lab.go(Rules()).events == 0
    (secret / IGNORE_FILE).unlink()
    assert lab.go(Rules()).events == 1
    assert lab.sessions() == ["b"]


def test_a_session_that_moves_into_an_ignored_folder_stops_there(says: Ruled) -> None:
    rules = Rules(exclude=("/w/secret",))
    says.write(lines([said(0, cwd="/w/open"), said(1), said(2, cwd="/w/secret"), said(3)]))
    summary = says.go(rules)
    assert says.texts() == ["t0", "t1"]
    assert summary.skipped == {"ignored": 2}
    says.append(lines([said(4, cwd="/w/open")]))
    says.go(rules)
    assert says.texts() == ["t0", "t1"]


def test_an_excluded_session_is_left_out_whatever_its_project(lab: Ruled) -> None:
    lab.write(lines([said(0, "a"), said(1, "a", "/w")]), "a.log")
    lab.write(lines([said(0, "b")]), "b.log")
    lab.go(Rules(sessions=frozenset({"a"})))
    assert lab.sessions() == ["b"]


def test_a_paused_project_waits_and_is_captured_after_continue(lab: Ruled) -> None:
    lab.write(lines([said(0, cwd="/w/app"), said(1)]))
    lab.go(Rules())
    engine = lab.begin(Rules())
    engine.run_once()
    engine.pause("/w/app")
    assert engine.status().paused_projects == ["/w/app"]
    lab.append(lines([said(2), said(3)]))
    lab.write(lines([said(0, "other", "/w/other")]), "b.log")
    engine.run_once()
    assert lab.texts() == ["t0", "t1"]
    assert lab.sessions() == ["other", "s1"]
    engine.resume("/w/app")
    engine.run_once()
    assert lab.texts() == ["t0", "t1", "t2", "t3"]
    assert engine.status().paused_projects == []


def test_a_paused_project_stays_paused_over_a_restart(lab: Ruled) -> None:
    engine = lab.begin(Rules())
    engine.pause("/w/app")
    lab.write(lines([said(0, cwd="/w/app"), said(1)]))
    lab.reopen()
    again = lab.begin(Rules())
    assert again.status().paused_projects == ["/w/app"]
    again.run_once()
    assert lab.sessions() == []
    lab.append(lines([said(2)]))
    again.run_once()
    again.resume("/w/app")
    again.run_once()
    assert lab.texts() == ["t0", "t1", "t2"]


def test_a_session_that_passes_through_a_paused_folder_keeps_its_order(says: Ruled) -> None:
    engine = says.begin(Rules())
    engine.pause("/w/paused")
    says.write(lines([said(0, cwd="/w/app"), said(1, cwd="/w/paused"), said(2, cwd="/w/app")]))
    engine.run_once()
    assert says.texts() == ["t0"]
    engine.resume("/w/paused")
    engine.run_once()
    assert says.texts() == ["t0", "t1", "t2"]


class PerRecord(ToyAssigner):
    """Each record names its session: one source holds several."""

    def assign(self, record: MaskedRecord) -> Assignment:
        native = record.native or {}
        return Assignment(native.get("session"), native.get("id"))


def test_other_sessions_of_a_source_are_read_on_while_one_waits(says: Ruled) -> None:
    says.spec = replace(SAYS, assigner=PerRecord)
    engine = says.begin(Rules(exclude=("/w/secret",)))
    says.write(lines([said(0, "a"), said(0, "b", "/w/open"), said(1, "a"), said(1, "b")]))
    engine.run_once()
    assert (says.sessions(), says.texts("b")) == (["b"], ["t0", "t1"])
    says.append(lines([said(2, "b"), said(2, "a", "/w/open"), said(3, "b")]))
    engine.run_once()
    assert says.texts("a") == ["t0", "t1", "t2"]
    assert says.texts("b") == ["t0", "t1", "t2", "t3"]
    assert says.go(Rules(exclude=("/w/secret",))).events == 0


@pytest.mark.parametrize("seed", range(12))
def test_whatever_waits_when_everything_is_stored_once_and_in_order(says: Ruled, seed: int) -> None:
    random = Random(seed)
    says.spec = replace(SAYS if seed % 2 else SILENT, assigner=PerRecord)
    names = [f"{file}{n}" for file in "xyz" for n in range(3)]
    homes = {name: f"/w/{random.choice('pqr')}" for name in names}
    written = dict.fromkeys(names, 0)
    engine = says.begin(Rules(exclude=("/never",)))
    for _ in range(60):
        match random.randrange(6):
            case 0:
                engine = says.begin(Rules(exclude=("/never",)))
            case 1:
                engine.pause(f"/w/{random.choice('pqr')}")
            case 2:
                engine.resume(f"/w/{random.choice('pqr')}")
            case 3:
                engine.run_once()
            case _:
                name = random.choice(names)
                number = written[name]
                written[name] += 1
                cwd = homes[name] if number >= random.randrange(3) else None
                says.append(lines([said(number, name, cwd)]), f"{name[0]}.log")
    for folder in "pqr":
        engine.resume(f"/w/{folder}")
    for name, number in written.items():
        says.append(lines([said(number, name, homes[name])]), f"{name[0]}.log")
        written[name] += 1
    engine.run_once()
    assert engine.status().waiting == 0
    for name, number in written.items():
        assert says.texts(name) == [f"t{n}" for n in range(number)], name
    assert says.go(Rules()).events == 0


def test_a_rule_that_goes_lets_the_next_start_read_what_waited(lab: Ruled) -> None:
    lab.write(lines([said(0), said(1)]))
    lab.go(Rules(include=("/w/app",)))
    lab.reopen()
    assert lab.go(Rules()).events == 2
