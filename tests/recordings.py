"""The recordings of each agent, for tests.

A recording lies in `tests/fixtures/<agent>/<recording>/` as it would lie below the agent's root. A
helper module, not a test: reach it through the fixture `recordings` of a `conftest.py`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

FIXTURES = Path(__file__).parent / "fixtures"


def recordings(agent: str) -> list[str]:
    """Names of an agent's recordings."""
    folder = FIXTURES / agent
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


def files(agent: str, recording: str) -> list[tuple[str, bytes]]:
    """(path relative to the agent's root, content) of a recording's files."""
    folder = FIXTURES / agent / recording
    return [
        (path.relative_to(folder).as_posix(), path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def lay_out(agent: str, recording: str, root: Path) -> Path:
    """Copies a recording's files below the agent's root folder, which is made if need be."""
    root.mkdir(parents=True, exist_ok=True)
    shutil.copytree(FIXTURES / agent / recording, root, dirs_exist_ok=True)
    return root
