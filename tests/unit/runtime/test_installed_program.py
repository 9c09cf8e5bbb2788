"""The version of a program on the PATH, by the package that it belongs to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ultracontext.agents import agent
from ultracontext.runtime.installed import of_program


@pytest.mark.parametrize(
    ("package", "named", "version"),
    [("@openai/codex", "1.2.3", "1.2.3"), ("@other/codex", "1.2.3", None), ("codex", "9", None)],
)
def test_only_a_package_of_the_agent_counts(
    tmp_path: Path, package: str, named: str, version: str | None
) -> None:
    folder = tmp_path / "lib/node_modules" / package
    (folder / "bin").mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"version": named}))
    script = folder / "bin/codex.js"
    script.write_text("")
    link = tmp_path / "bin/codex"
    link.parent.mkdir()
    link.symlink_to(script)
    found = of_program(agent("codex"), str(link))
    assert (found.version if found else None) == version
