"""The official SDKs of the original, each in a folder of its own: they share our import name.

They are fetched at the first need into `UC_SDKS` (else `~/.cache/ultracontext-sdks`), in pinned
versions: the Python one from the package index, the JavaScript ones by npm.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from real_agents.programs import EVERYTHING, INSTALL, folder

PYTHON = "1.6.0"
JAVASCRIPT = ("1.0.2", "1.6.0")
"""The last that Node 20 runs, and the newest."""
SCRIPTS = Path(__file__).parents[1] / "official"


def cache() -> Path:
    return Path(os.environ.get("UC_SDKS") or Path.home() / ".cache" / "ultracontext-sdks")


def absent(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def python() -> Path:
    """A Python that has the official SDK, and not ours."""
    place = cache() / f"python-{PYTHON}"
    program = place / "bin" / "python"
    if not program.exists():
        _made(
            place,
            [[sys.executable, "-m", "venv", "{}"],
             ["{}/bin/python", "-m", "pip", "install", "-q", f"ultracontext=={PYTHON}"]],
        )  # fmt: skip
    return program


def javascript(version: str) -> Path:
    """The folder whose `node_modules` holds the SDK."""
    place = cache() / f"javascript-{version}"
    if not (place / "node_modules" / "ultracontext").is_dir():
        flags = [
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
            "--prefix",
            "{}",
        ]
        _made(place, [["npm", "install", *flags, f"ultracontext@{version}"]])
    return place


def node(version: str) -> str:
    """The machine's own for the old SDK, the newer pinned one for the new."""
    if version == "1.0.2":
        found = shutil.which("node")
        if found is None:
            absent("there is no node on this machine")
        return str(found)
    newest = next(program for program in EVERYTHING if program.agent == "node")
    if not newest.installed:
        absent(f"{newest.name} is not in {folder()}; get it by {INSTALL} {newest.name}")
    return str(newest.executable)


def _made(place: Path, commands: list[list[str]]) -> None:
    """Beside its place, which gets its name when all is there; by one process."""
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if place.exists():
            return
        building = place.with_name(f".{place.name}.new")
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir()
        try:
            for command in commands:
                subprocess.run(
                    [word.replace("{}", str(building)) for word in command], cwd=building,
                    stdin=subprocess.DEVNULL, capture_output=True, timeout=240, check=True,
                )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            absent(f"{place.name} cannot be fetched: {type(error).__name__}")
        building.rename(place)


def run(command: list[str], env: Mapping[str, str], given: Any = None) -> Any:
    """Runs a driver, which prints one JSON document as its last line."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    done = subprocess.run(
        command, env={**kept, **env, "NO_PROXY": "*"}, input=json.dumps(given), text=True,
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return json.loads(done.stdout.strip().splitlines()[-1])
