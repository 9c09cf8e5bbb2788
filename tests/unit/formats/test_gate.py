"""Who gets a writer, and on what grounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ultracontext.agents import known
from ultracontext.errors import WriteRefusedError
from ultracontext.formats import AgentSpec, Breaks, Compat, Run
from ultracontext.formats.gate import Permit, judge, open_writer
from ultracontext.formats.table import pairs, writes


def run(version: str, *, passed: bool = True, **more: Any) -> Run:
    told = {"source": "codex", "source_version": "0.171.0", "target": "claude", **more}
    return Run(version=version, date="2026-11-30", test="t", passed=passed, **told)


def agents(*runs: Run, breaks: tuple[Breaks, ...] = ()) -> dict[str, AgentSpec]:
    """All agents; only Claude Code as a target has these runs."""
    found = dict(known())
    spec = found["claude"]
    assert spec.compat is not None
    compat = Compat(
        reads=spec.compat.reads, writes=spec.compat.writes, runs=runs, breaks=breaks,
        generation=spec.compat.generation,
    )  # fmt: skip
    found["claude"] = replace(spec, compat=compat)
    return found


TESTED = (run("2.0.77"), run("2.1.300"), run("2.1.332"))


@pytest.mark.parametrize(
    ("version", "verdict"),
    [
        ("2.1.332", "tested"),
        ("2.1.310", "expected"),
        ("2.1.333", "expected"),
        ("2.1.299", "untested"),
        ("2.2.0", "untested"),
        ("2.0.78", "untested"),
        ("2.1.333-beta.1", "untested"),
        ("nightly", "untested"),
        (None, "untested"),
    ],
)
def test_verdicts_by_version(version: str | None, verdict: str) -> None:
    assert judge("codex", "claude", version, agents=agents(*TESTED)).name == verdict


def test_expected_ends_where_the_target_wrote_what_is_new_to_us() -> None:
    said = judge("codex", "claude", "2.1.333", agents=agents(*TESTED), unknown=["system/new"])
    assert said.name == "untested"
    assert "system/new" in said.reason
    known_one = judge("codex", "claude", "2.1.332", agents=agents(*TESTED), unknown=["x"])
    assert known_one.name == "tested"


def test_evidence_of_one_source_says_nothing_of_another() -> None:
    assert judge("gemini", "claude", "2.1.332", agents=agents(*TESTED)).name == "untested"


def test_a_failed_run_refuses_and_a_known_break_refuses() -> None:
    failed = agents(run("2.1.332"), run("2.1.332", passed=False, note="opens empty"))
    assert judge("codex", "claude", "2.1.332", agents=failed).reason == "opens empty"
    broken = agents(*TESTED, breaks=(Breaks(first="2.1.320", last=None, reason="changed"),))
    assert judge("codex", "claude", "2.1.332", agents=broken).name == "refused"
    assert judge("codex", "claude", "2.1.300", agents=broken).name == "tested"


def test_runs_of_this_machine_count() -> None:
    proven = [run("2.9.0", local=True)]
    assert judge("codex", "claude", "2.9.0", agents=agents(), proven=proven).name == "tested"


def test_an_unknown_agent_is_refused_with_the_list_of_known_ones() -> None:
    with pytest.raises(WriteRefusedError) as caught:
        open_writer("codex", "nobody", "1.0.0", agents=known(), force=True)
    assert caught.value.code == "unknown-agent"
    assert all(slug in caught.value.hint for slug in known())


def test_force_opens_the_untested_only() -> None:
    given = agents(*TESTED, breaks=(Breaks(first="3.0.0", last=None, reason="changed"),))
    with pytest.raises(WriteRefusedError) as caught:
        open_writer("codex", "claude", "2.2.0", agents=given)
    assert caught.value.code == "untested"
    opened = open_writer("codex", "claude", "2.2.0", agents=given, force=True)
    assert opened.forced
    for version, code in (("3.0.0", "refused"), (None, "no-version")):
        with pytest.raises(WriteRefusedError) as caught:
            open_writer("codex", "claude", version, agents=given, force=True)
        assert caught.value.code == code
    with pytest.raises(WriteRefusedError) as caught:
        open_writer("codex", "cursor", "1.0.0", agents=given, force=True)
    assert caught.value.code == "handoff"


def test_a_permit_is_made_by_the_gate_only() -> None:
    with pytest.raises(TypeError):
        Permit()
    with pytest.raises(TypeError):
        type("Own", (Permit,), {})
    factory: Any = known()["claude"].writer
    with pytest.raises((TypeError, AttributeError)):
        factory(object())


def test_the_table_lists_every_ordered_pair_and_never_says_expected() -> None:
    given = agents(*TESTED)
    rows = pairs(given)
    assert {(r["source"], r["target"]) for r in rows} == {(a, b) for a in given for b in given}
    assert {r["verdict"] for r in rows} <= {"tested", "untested", "refused", "handoff"}
    (row,) = [r for r in rows if (r["source"], r["target"]) == ("codex", "claude")]
    assert row["verdict"] == "tested"
    assert row["target_versions"] == ["2.0.77", "2.1.300", "2.1.332"]
    assert all(one["test"] and one["date"] for one in row["evidence"])
    assert [w["versions"] for w in writes(given["claude"])] == [["2.0.77", "2.1.300", "2.1.332"]]


def test_every_tested_pair_that_is_shipped_has_its_run() -> None:
    for row in pairs(known()):
        if row["verdict"] == "tested":
            for version in row["target_versions"]:
                assert any(one["version"] == version for one in row["evidence"])
