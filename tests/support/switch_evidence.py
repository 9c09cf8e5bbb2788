"""Outcomes of the matrix into the agents' folders: `evidence.py`, which `compat` claims by.

A cell that failed takes the evidence of its pair and version away; one that was not run leaves it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

import ultracontext
from ultracontext.agents import known
from ultracontext.formats import Run

AGENTS = Path(ultracontext.__file__).parent / "agents"
HEAD = '''"""Runs of the end-to-end matrix with {name} as the target (`tests/agents/matrix`)."""

from __future__ import annotations

from ultracontext.formats import Run

_TEST = "tests/agents/test_switch_matrix.py::test_history_arrives"

RUNS: tuple[Run, ...] = tuple(
    Run(
        source=source, source_version=source_version, target="{slug}", version=version, date=date,
        test=f"{{_TEST}}[{{source}}-{{source_version}}-to-{slug}-{{version}}]",
    )
    for source, source_version, version, date in (
'''
Key = tuple[str, str, str, str]


def key(run: Run) -> Key:
    return run.target, run.version, run.source, run.source_version


def merged(old: Iterable[Run], new: Iterable[Run]) -> list[Run]:
    """Of each cell the newest outcome, if it passed."""
    found = {key(run): run for run in old}
    for run in new:
        if run.passed:
            found[key(run)] = run
        else:
            found.pop(key(run), None)
    return [found[name] for name in sorted(found)]


def text(slug: str, runs: Iterable[Run]) -> str:
    """The module; rows are (source, its version, the target's version, day)."""
    rows = [(run.source, run.source_version, run.version, run.date) for run in runs]
    head = HEAD.format(name=known()[slug].name, slug=slug)
    lines = [f"        ({', '.join(json.dumps(part) for part in row)}),\n" for row in rows]
    if not rows:
        empty = "RUNS: tuple[Run, ...] = ()\n"
        return head[: head.index("_TEST")] + empty
    return head + "".join(lines) + "    )\n)  # fmt: skip\n"


def main(results: Path) -> None:
    lines = results.read_text(encoding="utf-8").splitlines()
    new = [msgspec.convert(json.loads(line), type=Run) for line in lines]
    for slug, spec in known().items():
        mine = [run for run in new if run.target == slug]
        if mine and spec.compat is not None:
            body = text(slug, merged(spec.compat.runs, mine))
            (AGENTS / slug / "evidence.py").write_text(body, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
