"""Backfill against a bare loop: `bench_backfill.py [MB [RECORD_BYTES…]] [--rounds N]`.

The bare loop is what nobody could do without: it reads the same files, parses each line with
orjson, and inserts the same bytes with the same keys and indexes. It masks nothing, computes no
facts, no digests and no checkpoints, and asks for no duplicates. What holds for ours holds for it:

- the same tables and indexes, made by our own migrations, every column of a row filled with a value
  of the same size. What it need not compute (digest, chain) is filled with the key.
- the same keys: event ids by our own function. They begin with the session, so that its index pages
  are as warm as ours; random keys would cost it a fifth more.
- the same batch (`CaptureOptions.batch_events`), dedup rows sorted as ours are.
- durable the same way: opened by our own function, so WAL, `synchronous`, `secure_delete`, the page
  cache and the size at which the WAL is moved into the file are ours. Both are timed from the first
  look at the files to the last commit. The move of the WAL at closing is timed in neither: what is
  left in it is bounded by the same setting. Both start with an empty store and warm files.
- a process of its own, like ours; its start is in neither time.

Where the bytes lie is said nowhere, so it is measured twice. `bare` keeps them in the row of their
record, which is the plain thing to do; `packed` puts them uncompressed into our table of blocks.
`ratio` is bare / ours in seconds; `cpu_ratio` the same in processor time, which other work on the
machine disturbs less. Rounds alternate; each figure is that of the median round.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from ultracontext.capture import CaptureOptions
from ultracontext.cli.workspace import workspace
from ultracontext.model import event_id
from ultracontext.runtime.assembly import Setup, capture_line
from ultracontext.store.sqlite import connection as links
from ultracontext.store.sqlite.append import INSERT_DEDUP, INSERT_NODE
from ultracontext.store.sqlite.blocks import FULL_BYTES
from ultracontext.store.sqlite.blocks import INSERT as INSERT_BLOCK

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from bench_corpus import write_claude

BATCH = CaptureOptions().batch_events
NOW_MS = 1_764_500_000_000
INSERT_WHOLE = INSERT_NODE.replace("extra)", "extra, body)").replace("(?,", "(?, ?,", 1)
"""A row with its body."""


def ours(root: Path, home: Path) -> dict[str, float]:
    """A backfill in a process of its own, by the whole line of the program."""
    env = {**os.environ, "CLAUDE_CONFIG_DIR": str(root), "ULTRACONTEXT_HOME": str(home),
           "HOME": str(root),
           "CODEX_HOME": str(root / "none")}  # fmt: skip
    return _child(["--ours"], env)


def run_ours() -> dict[str, float]:
    place = workspace()
    place.paths.ensure()
    setup = Setup(paths=place.paths, settings=place.settings, env=place.env, home=place.home)
    with capture_line(setup) as line:
        cpu = time.process_time()
        summary = line.engine.run_once()
        cpu = time.process_time() - cpu
    return {"seconds": summary.seconds, "cpu": cpu, "events": summary.events,
            "bytes": summary.bytes,
            "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}  # fmt: skip


def _child(arguments: list[str], env: dict[str, str] | None = None) -> dict[str, float]:
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def bare_process(root: Path, db: Path, *, packed: bool) -> dict[str, float]:
    return _child(["--bare", str(root), str(db), *(["--packed"] * packed)])


def bare(root: Path, path: Path, *, packed: bool) -> dict[str, float]:
    links.create(path)
    links.migrate(path)
    db = links.connect(path, write=True)
    if not packed:
        db.execute("ALTER TABLE nodes ADD COLUMN body BLOB")
    insert = INSERT_NODE if packed else INSERT_WHOLE
    started, cpu = time.perf_counter(), time.process_time()
    events = total = 0
    nodes: list[tuple[Any, ...]] = []
    dedup: list[tuple[Any, ...]] = []
    blocks: list[tuple[Any, ...]] = []

    def flush() -> None:
        db.execute("BEGIN IMMEDIATE")
        db.executemany(insert, nodes)
        db.executemany(INSERT_BLOCK, blocks)
        dedup.sort()
        db.executemany(INSERT_DEDUP, dedup)
        db.execute("COMMIT")
        nodes.clear()
        dedup.clear()
        blocks.clear()

    for context, file in enumerate(sorted(root.rglob("*.jsonl"))):
        session, start = file.stem, 0
        pieces: list[bytes] = []
        size = first = position = 0
        for position, line in enumerate(_lines(file)):
            record = orjson.loads(line)
            key = event_id("claude", session, record["uuid"])
            body, length = line[:-1], len(line)
            row = (
                "local", context, position, 0, 0, key, None, 1, 1, start, length, position, 1, None,
                NOW_MS, 1 << 60, False, context, size, length - 1, key, key, None,
            )  # fmt: skip
            if packed:
                pieces.append(body)
                size += length - 1
                if size >= FULL_BYTES:
                    blocks.append(_block(events, context, first, position, pieces))
                    pieces, size, first = [], 0, position + 1
            nodes.append(row if packed else (*row, body))
            dedup.append(("local", key, key, 1, NOW_MS // 1000))
            events += 1
            start += length
            if len(nodes) == BATCH:
                flush()
        total += start
        if pieces:
            blocks.append(_block(events, context, first, position, pieces))
    flush()
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    db.close()
    return {"seconds": seconds, "cpu": cpu, "events": events, "bytes": total}


def _lines(file: Path) -> Iterator[bytes]:
    with file.open("rb") as lines:
        yield from lines


def _block(
    number: int, context: int, first: int, last: int, pieces: list[bytes]
) -> tuple[Any, ...]:
    data = b"".join(pieces)
    return ("local", number, context, first, last, len(data), 0, data)


def measure(root: Path, folder: Path, number: int) -> dict[str, float]:
    """One round: ours, then the bare loop in its two forms."""
    home = folder / f"home{number}"
    mine = ours(root, home)
    stored = sum(f.stat().st_size for f in home.glob("store.db*"))
    rows = bare_process(root, folder / f"bare{number}.db", packed=False)
    blocks = bare_process(root, folder / f"packed{number}.db", packed=True)
    if not mine["events"] == rows["events"] == blocks["events"]:
        raise SystemExit("the loops did not read the same records")
    cpu = mine["cpu"]
    return {
        "ours_mb_s": mine["bytes"] / mine["seconds"] / 1e6,
        "ours_events_s": mine["events"] / mine["seconds"],
        "bare_mb_s": rows["bytes"] / rows["seconds"] / 1e6,
        "packed_mb_s": blocks["bytes"] / blocks["seconds"] / 1e6,
        "ratio": rows["seconds"] / mine["seconds"],
        "cpu_ratio": rows["cpu"] / cpu,
        "packed_ratio": blocks["seconds"] / mine["seconds"],
        "packed_cpu_ratio": blocks["cpu"] / cpu,
        "cpu_us": cpu / mine["events"] * 1e6,
        "bare_cpu_us": rows["cpu"] / rows["events"] * 1e6,
        "rss_mb": mine["rss_mb"],
        "store_over_files": stored / mine["bytes"],
    }


def report(megabytes: int, size: int, rounds: int) -> dict[str, float]:
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = folder / "claude"
        write_claude(root, total_bytes=megabytes << 20, record_bytes=size, files=8)
        for number in range(rounds):
            found.append(measure(root, folder, number))
            for file in folder.glob(f"*{number}.db*"):
                file.unlink()
    medians = {key: statistics.median(row[key] for row in found) for key in found[0]}
    return {"mb": megabytes, "record_bytes": size} | {k: round(v, 2) for k, v in medians.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("mb", nargs="?", type=int, default=60)
    parser.add_argument("record_bytes", nargs="*", type=int, default=[600, 2000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bare", nargs=2, type=Path, metavar=("ROOT", "DB"), help="one bare loop")
    parser.add_argument("--packed", action="store_true", help="with its bytes in blocks")
    parser.add_argument("--ours", action="store_true", help="one backfill of ours")
    given = parser.parse_args()
    if given.ours:
        sys.stdout.write(json.dumps(run_ours()))
        return
    if given.bare:
        sys.stdout.write(json.dumps(bare(*given.bare, packed=given.packed)))
        return
    for size in given.record_bytes or [600, 2000]:
        row = report(given.mb, size, given.rounds)
        sys.stdout.write("  ".join(f"{k} {v}" for k, v in row.items()) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
