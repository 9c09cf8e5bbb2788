"""What the matrix found, kept in `agents/<slug>/evidence.py` of the target, which `compat` reads.

A row is (source, its version, version of the target, day, digest of both agents' code). So it can
be told which cells have to be run again: those whose agents' code or programs are others.
The code that all agents share is looked after by the cells that are always run. A cell that failed
takes its row away.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

import ultracontext.agents

AGENTS = Path(ultracontext.agents.__file__).parent
FILE = "evidence.py"
ASIDE = frozenset({FILE, "__init__.py", "tooling.py"})
"""What has no part in a switch: the evidence itself, imports, where an agent registers tools."""

Row = tuple[str, str, str, str, str]

_BEGIN = '''"""Runs of the matrix with {name} as the target. Written by `tests/agents/matrix`."""

from __future__ import annotations

from ultracontext.formats import Run

TEST = "tests/agents/test_switch_matrix.py::test_history_arrives"

ROWS: tuple[tuple[str, str, str, str, str], ...] = (
'''
_END = ''')  # fmt: skip
"""Source, its version, version of the target, day, digest of the code."""

RUNS = tuple(
    Run(
        source=source,
        source_version=came,
        target="{slug}",
        version=version,
        date=day,
        test=f"{{TEST}}[{{source}}-{{came}}-to-{slug}-{{version}}]",
    )
    for source, came, version, day, _ in ROWS
)
'''


def code_of(source: str, target: str, folder: Path = AGENTS) -> str:
    """Digest of what two agents' folders hold for reading and writing sessions."""
    digest = blake2b(digest_size=6)
    for slug in sorted({source, target}):
        for path in sorted((folder / slug).glob("*.py")):
            if path.name not in ASIDE:
                digest.update(f"{slug}/{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def rows_of(slug: str) -> tuple[Row, ...]:
    found: tuple[Row, ...] = getattr(
        import_module(f"ultracontext.agents.{slug}.evidence"), "ROWS", ()
    )
    return found


def unproven(source: str, came: str, target: str, version: str) -> bool:
    """Whether a cell was not run with this code and these versions, or failed then."""
    row = next((r for r in rows_of(target) if r[:3] == (source, came, version)), None)
    return row is None or row[4] != code_of(source, target)


def outcomes(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def text_of(slug: str, name: str, rows: Iterable[Row]) -> str:
    lines = [f"    {json.dumps(list(row))}".replace("[", "(").replace("]", "),") for row in rows]
    body = "\n".join(lines)
    return _BEGIN.format(name=name) + (body + "\n" if body else "") + _END.format(slug=slug)


def keep(
    found: Iterable[dict[str, Any]], names: dict[str, str], folder: Path = AGENTS
) -> list[str]:
    """Puts outcomes into the evidence of their targets; gives the slugs. Other rows stay."""
    by_target: dict[str, dict[tuple[str, str, str], Row]] = {}
    for one in found:
        source, came = one["source"], one["source_version"]
        target, version = one["target"], one["version"]
        kept = by_target.setdefault(target, {row[:3]: row for row in rows_of(target)})
        if not one["passed"]:
            kept.pop((source, came, version), None)
            continue
        code = code_of(source, target, folder)
        kept[source, came, version] = (source, came, version, one["date"], code)
    for slug, rows in by_target.items():
        text = text_of(slug, names[slug], [rows[key] for key in sorted(rows)])
        (folder / slug / FILE).write_text(text, encoding="utf-8")
    return sorted(by_target)
