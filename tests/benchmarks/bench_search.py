"""Search: filling, size and answers: `bench_search.py [MB]`.

The texts are session-like; the index is filled from a store that capture filled before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from bench_corpus import write_claude

from ultracontext.paths import resolve_paths
from ultracontext.redaction.opening import open_redactor
from ultracontext.search import Asked, Filler, Index, find
from ultracontext.search.fill import text_of
from ultracontext.settings import load_settings
from ultracontext.store import open_store
from ultracontext.store.base import LOCAL_SPACE
from ultracontext.store.following import OpenSession

QUERIES = ("session", "session token", '"response session"', "conf*", "error handler request", "x")


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder) / "claude", Path(folder) / "home"
        write_claude(root, total_bytes=megabytes << 20, record_bytes=800, files=40)
        env = {**os.environ, "CLAUDE_CONFIG_DIR": str(root), "ULTRACONTEXT_HOME": str(home),
               "HOME": str(root), "CODEX_HOME": str(root / "none")}  # fmt: skip
        command = [sys.executable, "-m", "ultracontext.cli", "daemon", "run", "--once", "--json"]
        subprocess.run(command, env=env, check=True, capture_output=True)
        paths = resolve_paths(env, root)
        redactor = open_redactor(paths, load_settings(paths.config_file, env, flags={}))
        space = open_store(paths.store_file, mode="ro").within(LOCAL_SPACE)
        index = Index(paths.index_file, write=True)
        started = time.perf_counter()
        messages = sum(Filler(index, space, redactor).catch_up())
        seconds = time.perf_counter() - started
        text = 0
        for row in space.contexts(limit=0, children=True):
            session = OpenSession(space, row, redactor)
            session.advance()
            text += sum(len(text_of(m).encode()) for m in session.messages() if m.kind != "meta")
        size = paths.index_file.stat().st_size
        report: dict[str, object] = {
            "messages": messages, "fill_s": round(seconds, 1),
            "messages_s": round(messages / seconds), "index_mb": round(size / 1e6, 1),
            "index_over_text": round(size / text, 2),
        }  # fmt: skip
        for query in QUERIES:
            times, hits = [], []
            for _ in range(5):
                began = time.perf_counter()
                hits = find(index, space, redactor, Asked(query=query), now=datetime.now(UTC))
                times.append(time.perf_counter() - began)
            report[f"{query} ms"] = round(1000 * sorted(times)[2], 1)
            report[f"{query} hits"] = len(hits)
        sys.stdout.write(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
