"""`tests/agents/install`: the pinned programs into one folder each, two at a time."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from real_agents.programs import BEFORE, EVERYTHING, Program, folder

AT_ONCE = max(2, min(4, os.cpu_count() or 2))
SLOWEST_FIRST = ("gemini-0.29.0", "openclaw-2026.9.6", "openclaw-2026.7.35")
TRIES = 3
FLAGS = (
    "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error",
    "--prefer-offline", f"--before={BEFORE}",
)  # fmt: skip


class InstallError(Exception):
    pass


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def complain(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def main(words: list[str]) -> int:
    chosen = select(words)
    if not chosen:
        complain(f"known: {', '.join(p.name for p in EVERYTHING)}")
        return 2
    if shutil.which("npm") is None:
        complain("found no npm; install Node 20 or newer with npm, and try again")
        return 1
    folder().mkdir(parents=True, exist_ok=True)
    with (folder() / ".lock").open("w") as lock, ThreadPoolExecutor(AT_ONCE) as pool:
        fcntl.flock(lock, fcntl.LOCK_EX)
        first = [program for program in chosen if program.agent == "node"]
        rest = [program for program in chosen if program not in first]
        failed = [line for wave in (first, rest) for line in pool.map(attempt, wave) if line]
    for line in failed:
        complain(line)
    return 1 if failed else 0


def select(words: list[str]) -> list[Program]:
    """The programs of that name or agent, with what they run on, slowest first."""
    if unknown := [w for w in words if not any(w in (p.name, p.agent) for p in EVERYTHING)]:
        complain(f"unknown: {', '.join(unknown)}")
        return []
    named = [p for p in EVERYTHING if not words or p.name in words or p.agent in words]
    wanted = {p.name: p for one in named for p in one.required()}
    return sorted(wanted.values(), key=lambda p: p.name not in SLOWEST_FIRST)


def attempt(program: Program) -> str | None:
    """Installs it unless it is there; what went wrong, else None."""
    if program.installed:
        say(f"{program.name}: is there")
        return None
    began = time.monotonic()
    for left in reversed(range(TRIES)):
        try:
            install(program)
        except InstallError as error:
            if left:
                continue
            return f"{program.name}: {error}"
        say(f"{program.name}: installed in {time.monotonic() - began:.0f} s")
        return None
    return None


def install(program: Program) -> None:
    """In a folder beside its place, which gets its name when all is there."""
    building = program.place.with_name(f".{program.name}.new")
    for old in (building, program.place):
        shutil.rmtree(old, ignore_errors=True)
    building.mkdir()
    (building / "package.json").write_text('{"private": true}\n')
    run(["npm", "install", *FLAGS, f"{program.package}@{program.version}"], building)
    check_integrity(program, building)
    if program.finish:
        finish(program, building)
    building.rename(program.place)
    if not program.installed:
        raise InstallError(f"{program.executable} is missing")


def finish(program: Program, building: Path) -> None:
    """The one script that is needed, with a home of its own: it may look for a person's state."""
    with tempfile.TemporaryDirectory() as home:
        node = [str(p.executable) for p in program.required() if p.agent == "node"] or ["node"]
        script = str(building / "node_modules" / str(program.finish))
        run([*node, script], building, os.environ | {"HOME": home})


def check_integrity(program: Program, building: Path) -> None:
    """npm checks what it downloads against the registry's word; this checks that word."""
    if program.integrity is None:
        return
    locked = json.loads((building / "package-lock.json").read_text(encoding="utf-8"))
    found = locked["packages"][f"node_modules/{program.package}"].get("integrity")
    if found != program.integrity:
        raise InstallError(f"{program.package} {program.version} is not the one that was pinned")


def run(command: list[str], where: Path, env: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(
        command, cwd=where, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=600, check=False,
    )  # fmt: skip
    if done.returncode:
        raise InstallError(f"{command[0]} ended with {done.returncode}: {done.stdout[-600:]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
