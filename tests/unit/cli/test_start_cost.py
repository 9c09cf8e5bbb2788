"""What `--help` and `status` may import. Times depend on the machine, imports do not."""

from __future__ import annotations

import subprocess
import sys
import tempfile

import pytest

HEAVY = {
    "aiohttp", "asyncio", "hyperscan", "ahocorasick_rs", "sqlite3", "rich", "structlog", "watchdog",
    "textual", "mcp", "keyring", "tomlkit", "ultracontext.agents.claude",
}  # fmt: skip
STATUS_MAY = {"sqlite3"}

SCRIPT = """
import sys
from ultracontext.cli.main import run
code = run(sys.argv[1:])
print("\\n".join(sys.modules), file=sys.stderr)
"""


def imported(*arguments: str) -> set[str]:
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [sys.executable, "-P", "-c", SCRIPT, *arguments],
            env={"HOME": home, "ULTRACONTEXT_HOME": f"{home}/uc", "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["no-such-command"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    assert imported(*arguments) & HEAVY == set()


def test_status_imports_little() -> None:
    assert imported("status", "--json") & HEAVY <= STATUS_MAY
