"""Latency from a write to the stored event, idle cost, and memory with a 1 GB line.

`python tests/benchmarks/bench_live.py latency [events]`, `idle [files] [seconds]`,
`burst [files]`, `long [MB]`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from blackbox import ClaudeSession, Home, kill

from ultracontext.runtime.client import ControlClient


def wait_ready(home: Home) -> ControlClient:
    client = ControlClient(home.uc / "run" / "daemon.sock")
    for _ in range(400):
        try:
            client.get("/status")
        except Exception:  # noqa: BLE001 - until it answers
            time.sleep(0.05)
        else:
            return client
    raise SystemExit("the daemon does not answer")


def stat_of(pid: int) -> dict[str, float]:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    status = Path(f"/proc/{pid}/status").read_text()
    rss = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    switches = sum(int(line.split()[1]) for line in status.splitlines() if "ctxt_switches" in line)
    tick = os.sysconf("SC_CLK_TCK")
    return {
        "cpu": (int(fields[11]) + int(fields[12])) / tick, "rss_mb": rss / 1024,
        "peak_mb": peak / 1024, "switches": switches,
        "fds": len(list(Path(f"/proc/{pid}/fd").iterdir())),
    }  # fmt: skip


def percentiles(values: list[float]) -> dict[str, float]:
    values = sorted(values)

    def at(q: float) -> float:
        return round(values[min(len(values) - 1, int(q * len(values)))] * 1000, 1)

    return {"p50_ms": at(0.5), "p95_ms": at(0.95), "p99_ms": at(0.99), "max_ms": at(1.0)}


def latency(count: int, watch: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        session = ClaudeSession(home)
        session.append(["first"])
        env = {} if watch else {"ULTRACONTEXT_CAPTURE_WATCH": "false"}
        process = home.start("daemon", "run", **env)
        try:
            client = wait_ready(home)
            time.sleep(1.0)
            arrived: list[float] = []
            ready = threading.Event()

            def read() -> None:
                for name, data in ControlClient(home.uc / "run" / "daemon.sock").events():
                    now = time.perf_counter()
                    if name == "hello":
                        ready.set()
                    elif data.get("events"):
                        arrived.extend([now] * data["events"])
                        if len(arrived) >= count:
                            return

            thread = threading.Thread(target=read, daemon=True)
            thread.start()
            ready.wait(5)
            written = []
            for n in range(count):
                line = session.line(f"event {n}")
                with session.path.open("ab") as out:
                    out.write(line)
                written.append(time.perf_counter())
                time.sleep(0.03 + (n % 7) * 0.02)
            thread.join(10)
            took = [b - a for a, b in zip(written, arrived, strict=False)]
            mode = client.get("/status")["capture"]["watcher"]
            return {"events": len(took), **percentiles(took), "watcher": mode}
        finally:
            kill(process)


def idle(files: int, seconds: float) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        for n in range(files):
            session = ClaudeSession(home, project=f"-w-app{n % 40}")
            session.append(["one", "two"])
        started = time.perf_counter()
        process = home.start("daemon", "run")
        try:
            client = wait_ready(home)
            while (
                client.get("/status")["capture"]["backlog_bytes"] or home.node_count() < files * 2
            ):
                time.sleep(0.2)
                if time.perf_counter() - started > 120:
                    break
            caught_up = time.perf_counter() - started
            while client.get("/status")["index"].get("behind") != 0:
                time.sleep(1.0)
                if time.perf_counter() - started > 300:
                    break
            indexed = time.perf_counter() - started
            time.sleep(60 if seconds > 20 else 5)
            before = stat_of(process.pid)
            time.sleep(seconds)
            after = stat_of(process.pid)
            return {
                "files": files, "caught_up_s": round(caught_up, 1),
                "indexed_s": round(indexed, 1),
                "cpu_percent": round((after["cpu"] - before["cpu"]) / seconds * 100, 3),
                "wakeups_per_s": round((after["switches"] - before["switches"]) / seconds, 1),
                "rss_mb": round(after["rss_mb"], 1), "fds": after["fds"],
                "peak_mb": round(after["peak_mb"], 1),
            }  # fmt: skip
        finally:
            kill(process)


def burst(files: int) -> dict[str, float]:
    """So many files made at once while the daemon runs: until all are known, and until all are
    stored."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        process = home.start("daemon", "run")
        try:
            client = wait_ready(home)
            started = time.perf_counter()
            for n in range(files):
                ClaudeSession(home, project=f"-w-app{n % 200}").append(["one"])
            made = time.perf_counter()
            found = stored = 0.0
            while not stored and time.perf_counter() - made < 600:
                state = client.get("/status")["capture"]
                now = time.perf_counter() - made
                found = found or (now if state["sources"] >= files else 0.0)
                stored = now if state["events"] >= files else 0.0
                time.sleep(0.2)
            return {
                "files": files, "made_s": round(made - started, 1), "found_s": round(found, 1),
                "stored_s": round(stored, 1), "cpu_s": round(stat_of(process.pid)["cpu"], 1),
            }  # fmt: skip
        finally:
            kill(process)


def long_line(megabytes: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        session = ClaudeSession(home)
        session.append(["before"])
        process = home.start("daemon", "run")
        try:
            wait_ready(home)
            with session.path.open("ab") as out:
                for _ in range(megabytes):
                    out.write(b"z" * (1 << 20))
                out.write(b"\n")
            session.append(["after"])
            started = time.perf_counter()
            while home.node_count() < 3 and time.perf_counter() - started < 120:
                time.sleep(0.1)
            took = time.perf_counter() - started
            found = stat_of(process.pid)
            return {"line_mb": megabytes, "seconds": round(took, 1), "nodes": home.node_count(),
                    "peak_mb": round(found["peak_mb"], 1)}  # fmt: skip
        finally:
            kill(process)


def main() -> None:
    kind = sys.argv[1] if len(sys.argv) > 1 else "latency"
    numbers = [float(a) for a in sys.argv[2:]]
    if kind == "latency":
        count = int(numbers[0]) if numbers else 200
        report: object = [latency(count, True), latency(count, False)]
    elif kind == "idle":
        report = idle(
            int(numbers[0]) if numbers else 10000, numbers[1] if len(numbers) > 1 else 60.0
        )
    elif kind == "burst":
        report = burst(int(numbers[0]) if numbers else 40000)
    else:
        report = long_line(int(numbers[0]) if numbers else 1024)
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
