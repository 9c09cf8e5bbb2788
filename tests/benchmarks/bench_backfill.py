"""Backfill against a bare loop, in one run: `bench_backfill.py [MB [RECORD_BYTES…]]`.

The bare loop reads the same files, parses each line with orjson, and inserts the same bytes under
the same keys into the same tables with the same indexes, 500 rows a transaction, durable the same
way. It masks nothing, computes no facts, checks nothing for duplicates but by the tables' own keys.
"""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from hashlib import blake2b
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from bench_corpus import write_claude


def ours(root: Path, home: Path) -> dict[str, float]:
    env = {**os.environ, "CLAUDE_CONFIG_DIR": str(root), "ULTRACONTEXT_HOME": str(home),
           "HOME": str(root),
           "CODEX_HOME": str(root / "none")}  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "ultracontext.cli", "daemon", "run", "--once", "--json"],
        env=env, capture_output=True, check=True, text=True,
    )  # fmt: skip
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    summary = json.loads(done.stdout)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": summary["seconds"], "wall": wall, "cpu": cpu, "events": summary["events"],
            "bytes": summary["bytes"], "rss_mb": after.ru_maxrss / 1024}  # fmt: skip


def schema_of(home: Path) -> list[str]:
    with sqlite3.connect(home / "store.db") as db:
        rows = db.execute(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        )
        return [sql for (sql,) in rows]


def bare(root: Path, path: Path, schema: list[str]) -> dict[str, float]:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA auto_vacuum=INCREMENTAL")
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("PRAGMA cache_size=-16384")
    for sql in schema:
        db.execute(sql)
    db.execute("ALTER TABLE nodes ADD COLUMN body BLOB")
    started = time.perf_counter()
    events = total = 0
    nodes: list[tuple[object, ...]] = []
    dedup: list[tuple[object, ...]] = []

    def flush() -> None:
        db.execute("BEGIN IMMEDIATE")
        db.executemany(
            "INSERT INTO nodes"
            " (space, context, position, born, revision, event_id, log, opaque, body)"
            " VALUES ('local', ?, ?, 0, 0, ?, 0, 0, ?)",
            nodes,
        )
        db.executemany(
            "INSERT INTO dedup (space, event_id, digest, source, stored_s)"
            " VALUES ('local', ?, ?, 1, 0)",
            dedup,
        )
        db.execute("COMMIT")
        nodes.clear()
        dedup.clear()

    for context, file in enumerate(sorted(root.rglob("*.jsonl"))):
        with file.open("rb") as lines:
            for position, line in enumerate(lines):
                record = orjson.loads(line)
                key = blake2b(record["uuid"].encode(), digest_size=16).digest()
                nodes.append((context, position, key, line[:-1]))
                dedup.append((key, key))
                events += 1
                total += len(line)
                if len(nodes) == 500:
                    flush()
    flush()
    seconds = time.perf_counter() - started
    db.close()
    return {"seconds": seconds, "events": events, "bytes": total}


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    report = []
    sizes = [int(a) for a in sys.argv[2:]] or [600, 2000]
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "claude"
            write_claude(root, total_bytes=megabytes << 20, record_bytes=size, files=8)
            mine = ours(root, Path(folder) / "home")
            base = bare(root, Path(folder) / "bare.db", schema_of(Path(folder) / "home"))
            stored = sum(f.stat().st_size for f in (Path(folder) / "home").glob("store.db*"))
            row = {
                "record_bytes": size,
                "ours_mb_s": round(mine["bytes"] / mine["seconds"] / 1e6, 1),
                "ours_events_s": round(mine["events"] / mine["seconds"]),
                "bare_mb_s": round(base["bytes"] / base["seconds"] / 1e6, 1),
                "bare_events_s": round(base["events"] / base["seconds"]),
                "ratio": round(base["seconds"] / mine["seconds"], 2),
                "cpu_s": round(mine["cpu"], 2), "wall_s": round(mine["wall"], 2),
                "rss_mb": round(mine["rss_mb"]),
                "store_over_files": round(stored / mine["bytes"], 2),
            }  # fmt: skip
            report.append(row)
            sys.stdout.write("  ".join(f"{k} {v}" for k, v in row.items()) + "\n")
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
