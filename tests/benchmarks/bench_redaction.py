"""How fast records are masked: `python tests/benchmarks/bench_redaction.py [--mb 16]`; with
`--compare FOLDER` also what gitleaks and detect-secrets of that folder find (see bench_rivals.py).

All times are of the processor. Load and build are measured in a process of their own; "engine
alone" is one scan of the joined text, as the path of data does it.

The records are made here: envelopes as agents write them around pieces of the standard library
source, about 2 kB each; in the second corpus every 200th holds one synthetic secret.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from ultracontext.model import RawRecord
from ultracontext.redaction import load_redactor
from ultracontext.redaction.sample import sample

T = TypeVar("T")
SECRETS = (
    "ghp_{an:36}",
    "sk-ant-api03-{u64:93}AA",
    "AKIA{b32:16}",
    "postgresql://app:{an:16}@db:5432/x",
)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--mb", type=int, default=16)
    options.add_argument("--compare", type=Path, metavar="FOLDER")
    chosen = options.parse_args()
    size = chosen.mb * 1_000_000
    rows: list[tuple[str, ...]] = [
        ("corpus", "engine", "load s", "MB/s", "records/s", "engine alone MB/s")
    ]
    sys.stdout.write(f"database: build {database(1):.2f} s, load {database(2) * 1000:.0f} ms\n")
    with tempfile.TemporaryDirectory() as folder:
        for engine in ("hyperscan", "aho"):
            load_redactor(b"k" * 32, engine=engine, cache_dir=Path(folder))
            for name, every in (("clean", 0), ("secret in 1 of 200", 200)):
                corpus = list(records(size if engine == "hyperscan" else size // 4, every))
                rows.append((name, engine, *measure(corpus, engine, Path(folder))))
    for row in rows:
        sys.stdout.write("".join(f"{cell:<22}" for cell in row).rstrip() + "\n")
    if chosen.compare is not None:
        from bench_rivals import compare  # type: ignore[import-not-found]  # beside this file

        for row in compare(chosen.compare):
            sys.stdout.write("| " + " | ".join(row) + " |\n")


DATABASE = """
import sys, tempfile, time
from pathlib import Path
from ultracontext.redaction.hyperscan_engine import HyperscanEngine
from ultracontext.redaction.rules import load_rules
rules, spent = load_rules(), 0.0
with tempfile.TemporaryDirectory() as folder:
    for _ in range(int(sys.argv[1])):
        begun = time.process_time()
        HyperscanEngine(rules, Path(folder))
        spent = time.process_time() - begun
print(spent)
"""


def database(times: int) -> float:
    """Seconds of the last of so many starts with one cache folder: 1 builds, 2 loads."""
    out = subprocess.run(  # our own code
        [sys.executable, "-c", DATABASE, str(times)], check=True, capture_output=True, text=True
    )
    return float(out.stdout)


def measure(corpus: list[RawRecord], engine: str, cache: Path) -> tuple[str, ...]:
    load, redactor = timed(lambda: load_redactor(b"k" * 32, engine=engine, cache_dir=cache))
    size = sum(len(raw.data) for raw in corpus)
    spent, _ = timed(lambda: [redactor.redact(raw).digest for raw in corpus])
    scan = redactor.scanner.engine.candidates
    joined = b"\n\0\n".join(raw.data for raw in corpus)
    alone = min(timed(lambda: scan(joined))[0] for _ in range(3))
    return (
        f"{load:.3f}",
        f"{size / spent / 1e6:.1f}",
        f"{len(corpus) / spent:.0f}",
        f"{size / alone / 1e6:.0f}",
    )


def timed(action: Callable[[], T]) -> tuple[float, T]:
    """Seconds of the processor: the machine may have other work."""
    begun = time.process_time()
    value = action()
    return time.process_time() - begun, value


def records(size: int, secret_every: int) -> Iterator[RawRecord]:
    """Envelopes in the order: prompt, answer, tool call, tool result."""
    rng = random.Random(7)
    text = source_text()
    session, made, count, parent = str(uuid.UUID(int=rng.getrandbits(128))), 0, 0, None
    while made < size:
        start = rng.randrange(len(text) - 4000)
        piece = text[start : start + rng.randrange(600, 2400)]
        if secret_every and count % secret_every == 7:
            piece = piece[:300] + "\n" + sample(SECRETS[count // 7 % 4], count) + "\n" + piece[300:]
        own = str(uuid.UUID(int=rng.getrandbits(128)))
        data = json.dumps(
            envelope(count, own, parent, session, piece), separators=(",", ":"), ensure_ascii=False
        ).encode()
        yield RawRecord(
            agent="claude",
            source="/home/dev/.claude/projects/-w-app/s.jsonl",
            start=made,
            end=made + len(data) + 1,
            data=data,
        )
        made += len(data) + 1
        count += 1
        parent = own


def envelope(
    count: int, own: str, parent: str | None, session: str, piece: str
) -> dict[str, object]:
    head = {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/dev/app",
        "sessionId": session,
        "version": "2.0.14",
        "gitBranch": "main",
    }
    usage = {
        "input_tokens": count,
        "cache_creation_input_tokens": 1812,
        "output_tokens": 412,
        "service_tier": "standard",
    }
    call = f"toolu_01{own.replace('-', '')[:22]}"
    if count % 4 == 0:
        message: dict[str, object] = {"role": "user", "content": piece}
    elif count % 4 == 3:
        message = {
            "role": "user",
            "content": [
                {"tool_use_id": call, "type": "tool_result", "content": piece, "is_error": False},
            ],
        }
    else:
        block = (
            {"type": "text", "text": piece}
            if count % 4 == 1
            else {
                "type": "tool_use",
                "id": call,
                "name": "Write",
                "input": {"file_path": "/home/dev/app/x.py", "content": piece},
            }
        )
        message = {
            "id": f"msg_01{own.replace('-', '')[:22]}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": [block],
            "stop_reason": None,
            "usage": usage,
        }
    tail = {"uuid": own, "timestamp": f"2026-11-30T10:{count // 60 % 60:02}:{count % 60:02}.512Z"}
    kind = "user" if count % 4 in (0, 3) else "assistant"
    return {**head, "message": message, "type": kind, **tail}


def source_text() -> str:
    folder = Path(json.__file__).parent.parent
    return "\n".join(
        path.read_text("utf-8", "replace") for path in sorted(folder.glob("*.py"))[:120]
    )


if __name__ == "__main__":
    main()
