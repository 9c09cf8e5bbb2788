"""What `compat` shows: the matrix of reading, writing and pairs, from evidence alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ultracontext.formats.evidence import Run
from ultracontext.formats.gate import judge
from ultracontext.formats.versions import parse

if TYPE_CHECKING:
    from ultracontext.formats.spec import AgentSpec

Shape = dict[str, Any]


def reads(spec: AgentSpec) -> list[Shape]:
    if spec.compat is None:
        return []
    return [
        {"format": one.format, "versions": list(one.versions), "evidence": one.evidence}
        for one in spec.compat.reads
    ]


def writes(spec: AgentSpec, proven: Iterable[Run] = ()) -> list[Shape]:
    """Each format with the versions that were run on it."""
    if spec.compat is None or spec.writer is None:
        return []
    runs = [run for run in (*spec.compat.runs, *proven) if run.target == spec.slug and run.passed]
    found = []
    for one in spec.compat.writes:
        first, last = parse(one.first), parse(one.last) if one.last else None
        mine = [
            run
            for run in runs
            if (version := parse(run.version)) is not None
            and (first is None or first <= version)
            and (last is None or version <= last)
        ]
        versions = sorted({run.version for run in mine}, key=lambda text: parse(text) or ())
        dates = sorted({run.date for run in mine})
        evidence = f"{len(mine)} runs, {dates[-1]}" if mine else "none"
        found.append(
            {"format": one.format, "versions": versions, "evidence": evidence, "note": one.note}
        )
    return found


def pairs(agents: Mapping[str, AgentSpec], proven: Iterable[Run] = ()) -> list[Shape]:
    """Every ordered pair; `expected` is never said here: it holds for an installed version only."""
    runs = [run for spec in agents.values() if spec.compat for run in spec.compat.runs]
    runs += list(proven)
    return [
        row
        for source in agents
        for target in agents
        for row in _pair(source, target, agents, [r for r in runs if _of(r, source, target)])
    ]


def _of(run: Run, source: str, target: str) -> bool:
    return run.source == source and run.target == target


def _pair(
    source: str, target: str, agents: Mapping[str, AgentSpec], runs: list[Run]
) -> Iterator[Shape]:
    compat = agents[target].compat
    head: Shape = {"source": source, "target": target}
    if agents[target].writer is None:
        verdict = judge(source, target, None, agents=agents)
        yield head | _row([], verdict.name, [], verdict.reason)
        return
    for known in compat.breaks if compat is not None else ():
        versions = [f"{known.first} to {known.last}" if known.last else f"{known.first} on"]
        yield head | _row(versions, "refused", [], known.reason)
    verdicts: dict[str, list[str]] = {}
    for version in dict.fromkeys(run.version for run in runs):
        said = judge(source, target, version, agents=agents, proven=runs)
        verdicts.setdefault(said.name, []).append(version)
    for name, versions in verdicts.items():
        mine = [run for run in runs if run.version in versions]
        notes = [run.note for run in mine if run.note and not run.passed]
        yield head | _row(sorted(versions), name, mine, notes[0] if notes else "")
    if not verdicts:
        yield head | _row([], "untested", [], "no version of it was run with this source")


def _row(versions: list[str], verdict: str, runs: list[Run], reason: str) -> Shape:
    return {
        "target_versions": versions,
        "verdict": verdict,
        "evidence": [
            {
                "test": run.test, "program": run.target, "version": run.version, "date": run.date,
                "source_version": run.source_version, "local": run.local,
            }
            for run in runs
        ],
        "reason": reason,
    }  # fmt: skip
