"""A switch of a long session by the command line: `bench_switch.py [MESSAGES [TARGET…]]`.

A session of so many messages (a quarter each: prompts, calls, results, answers; about 650 bytes a
message) is switched by one command in a fresh process, masked, written, and read back. The first
command of a home compiles the rules; the second and later ones, which are told, find them there.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from switch_lab import claude_lines, result, spoken, use

VERSIONS = {"codex": "0.171.0", "claude": "2.1.332", "gemini": "0.61.0"}
ROUNDS = 3
MOST_SECONDS, MOST_MB = 2.0, 300


def lay_out(root: Path, messages: int) -> None:
    said = []
    for turn in range(messages // 4):
        said += [
            ("user", f"Question {turn}: " + "please look at the module and explain it. " * 8),
            ("assistant", [use("Bash", {"command": f"cat src/{turn}.py"}, f"toolu_{turn}")]),
            ("user", [result(f"toolu_{turn}", "def f(x):\n    return x + 1\n" * 20)]),
            ("assistant", f"Answer {turn}: " + "it adds one and returns the sum. " * 12),
        ]
    for name, data in claude_lines(list(spoken(*said))).items():
        place = root / name
        place.parent.mkdir(parents=True)
        place.write_bytes(data)


def switch(home: Path, target: str) -> dict[str, float]:
    env = {**os.environ, "HOME": str(home), "ULTRACONTEXT_HOME": str(home / "uc")}
    words = [sys.executable, "-m", "ultracontext.cli", "switch", target, "--from", "claude"]
    words += ["--session", "00000000-0000-4000-8000-00000000abcd", "--cwd", str(home)]
    words += ["--target-version", VERSIONS[target], "--force", "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(words, env=env, capture_output=True, check=True, text=True)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "seconds": round(wall, 2), "cpu": round(cpu, 2), "rss_mb": round(after.ru_maxrss / 1024),
        "messages": json.loads(done.stdout)["messages"],
    }  # fmt: skip


def main(messages: int, targets: list[str]) -> int:
    worst = 0
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        lay_out(home / ".claude", messages)
        for target in targets:
            rounds = [switch(home, target) for _ in range(ROUNDS + 1)][1:]
            best = min(rounds, key=lambda found: found["seconds"])
            print(json.dumps({"target": target, **best}))
            worst |= best["seconds"] > MOST_SECONDS or best["rss_mb"] > MOST_MB
    return int(worst)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    sys.exit(main(count, sys.argv[2:] or list(VERSIONS)))
