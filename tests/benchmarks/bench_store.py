"""What the store costs: appends a second, bytes on disk, one-event commits, lists of 10,000
sessions.

    .venv/bin/python tests/benchmarks/bench_store.py [append] [codecs] [live] [lists] [--events N]

Without a name all of them run. Records are like those of real sessions: the recordings' shapes with
invented prose and code, one record in a session's order, sessions one after the other as in a
backfill. Masked records are made beforehand, so that only the store is measured.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import zstandard

from ultracontext.model import RawRecord, SessionFacts, event_id
from ultracontext.redaction import Redactor, load_redactor
from ultracontext.store import CaptureBatch, Checkpoint, Event, FactsUpdate, SpaceStore, open_store

BATCH = 500
SESSION = 400
"""Records of one session."""

SYLLABLES = [
    "ba",
    "co",
    "de",
    "fi",
    "gu",
    "ha",
    "jo",
    "ke",
    "li",
    "mu",
    "na",
    "po",
    "qui",
    "ra",
    "so",
    "tu",
    "ve",
    "wi",
    "xa",
    "yo",
    "zu",
    "tor",
    "men",
    "ling",
]


class Prose:
    """Words with the frequencies of a language, so that it compresses like one."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.words = [
            "".join(self.random.choices(SYLLABLES, k=self.random.randint(1, 4)))
            for _ in range(6000)
        ]
        self.weights = [1 / (rank + 2) for rank in range(len(self.words))]

    def text(self, size: int) -> str:
        words: list[str] = []
        length = 0
        while length < size:
            for word in self.random.choices(self.words, self.weights, k=40):
                words.append(word)
                length += len(word) + 1
                if self.random.random() < 0.12:
                    words.append(
                        self.random.choice([".\n", "(", "):", "= {", "};\n", "    ", "->"])
                    )
        return " ".join(words)[:size]

    def hex(self, length: int) -> str:
        return f"{self.random.getrandbits(length * 4):0{length}x}"

    def uuid(self) -> str:
        return "-".join(self.hex(n) for n in (8, 4, 4, 4, 12))


def claude_like(prose: Prose, session: str, ordinal: int, size: int) -> bytes:
    """A record of Claude Code's shape with about `size` bytes in all."""
    kind = ("user", "assistant", "tool_use", "tool_result")[ordinal % 4]
    record = {
        "parentUuid": prose.uuid(),
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/dev/project",
        "sessionId": session,
        "version": "2.1.332",
        "gitBranch": "main",
        "type": "user" if kind in ("user", "tool_result") else "assistant",
    }
    room = max(size - 520, 40)
    call = "toolu_" + prose.hex(24)
    match kind:
        case "user":
            record["message"] = {"role": "user", "content": prose.text(room + 150)}
        case "assistant":
            record["message"] = {
                "id": "msg_" + prose.hex(24),
                "type": "message",
                "role": "assistant",
                "model": "claude-opus-5-5",
                "content": [{"type": "text", "text": prose.text(room)}],
                "stop_reason": None,
                "usage": {"input_tokens": ordinal, "output_tokens": 7 * ordinal % 911},
            }
        case "tool_use":
            record["message"] = {
                "role": "assistant",
                "content": [
                    {
                        "type": "tool_use",
                        "id": call,
                        "name": "Bash",
                        "input": {"command": prose.text(room), "description": prose.text(30)},
                    }
                ],
            }
        case _:
            record["message"] = {
                "role": "user",
                "content": [
                    {"tool_use_id": call, "type": "tool_result", "content": prose.text(room)}
                ],
            }
    record["uuid"] = prose.uuid()
    hour, minute, milli = ordinal // 60 % 24, ordinal % 60, ordinal * 7 % 1000
    record["timestamp"] = f"2026-11-30T{hour:02}:{minute:02}:07.{milli:03}Z"
    return json.dumps(record, separators=(",", ":")).encode()


def corpus(size: int, count: int, seed: int = 7) -> list[tuple[str, int, bytes]]:
    """(session, ordinal, record)."""
    prose = Prose(seed)
    found = []
    session = ""
    for number in range(count):
        if number % SESSION == 0:
            session = prose.uuid()
        found.append(
            (session, number % SESSION, claude_like(prose, session, number % SESSION, size))
        )
    return found


def events_of(records: list[tuple[str, int, bytes]], redactor: Redactor) -> list[Event]:
    events = []
    start = 0
    for session, ordinal, data in records:
        raw = RawRecord(
            agent="claude",
            source=f"/home/dev/.claude/projects/p/{session}.jsonl",
            start=start,
            end=start + len(data) + 1,
            data=data,
        )
        start += len(data) + 1
        events.append(
            Event(
                event_id=event_id("claude", session, ordinal),
                session_id=session,
                record=redactor.redact(raw),
                source_id=1,
                ordinal=ordinal,
                kind=("user", "assistant", "tool_call", "tool_result")[ordinal % 4],
                role=("user", "assistant", "assistant", "tool")[ordinal % 4],
                event_type=("user", "assistant")[ordinal % 2],
                call_id="toolu_0123456789abcdef01234567" if ordinal % 4 > 1 else None,
                time_ms=1_790_000_000_000 + ordinal * 1000,
            )
        )
    return events


def checkpoint(source_id: int, position: int) -> Checkpoint:
    return Checkpoint(
        source_id=source_id,
        agent="claude",
        path="/home/dev/.claude/projects/p/a.jsonl",
        path_digest=b"p" * 16,
        device=1,
        inode=source_id,
        fingerprint=b"f" * 16,
        fingerprint_length=1024,
        size=position,
        mtime_ns=1,
        ctime_ns=1,
        position=position,
        ordinal=1,
        prefix=b"x" * 16,
        state={"session": "abc"},
    )


def batches(events: list[Event], size: int) -> Iterator[CaptureBatch]:
    facts = SessionFacts(
        title="A title of a session that somebody typed",
        title_source="prompt",
        project_path="/home/dev/project",
        model="claude-opus-5-5",
        agent_version="2.1.332",
        started_at="2026-11-30T10:00:00.000Z",
        updated_at="2026-11-30T12:00:00.000Z",
        messages=100,
    )
    for start in range(0, len(events), size):
        part = events[start : start + size]
        sessions = dict.fromkeys(e.session_id for e in part)
        yield CaptureBatch(
            events=part,
            checkpoints=[checkpoint(1, start)],
            facts=[FactsUpdate(agent="claude", session_id=s, facts=facts) for s in sessions],
            counts={"duplicates": 0, "skipped.vendor-request": 1},
        )


class Home:
    """A throw-away store."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bench-store-"))
        self.file = self.folder / "store.db"
        self.store = open_store(self.file, migrate=True)
        self.space: SpaceStore = self.store.within("local")

    def close(self) -> int:
        """Bytes of the file."""
        self.store.close()
        size = self.file.stat().st_size
        shutil.rmtree(self.folder)
        return size


def append(count: int) -> None:
    """Backfill: known_events and append, 500 a transaction."""
    redactor = load_redactor(b"bench")
    for size in (600, 2000):
        records = corpus(size, count)
        data_bytes = sum(len(data) + 1 for _, _, data in records)
        events = events_of(records, redactor)
        home = Home()
        now = datetime.now(UTC)
        asked = written = 0.0
        slowest = []
        cpu = time.process_time()
        for batch in batches(events, BATCH):
            begin = time.perf_counter()
            home.space.known_events([e.event_id for e in batch.events])
            middle = time.perf_counter()
            home.space.append(batch, now=now)
            end = time.perf_counter()
            asked += middle - begin
            written += end - middle
            slowest.append(end - middle)
        cpu = time.process_time() - cpu
        disk = home.close()
        say(
            f"append {data_bytes / count:6.0f} B",
            f"{count / written:9,.0f} events/s",
            f"{data_bytes / written / 1e6:6.1f} MB/s",
            f"with known_events {count / (asked + written):9,.0f}/s",
            f"cpu {count / cpu:9,.0f}/s",
            f"slowest batch {max(slowest) * 1000:.0f} ms",
            f"store/files {disk / data_bytes:.2f}",
        )


def live(count: int) -> None:
    """One event a commit, into a store that is not empty."""
    redactor = load_redactor(b"bench")
    home = Home()
    now = datetime.now(UTC)
    for batch in batches(events_of(corpus(2000, 20_000), redactor), BATCH):
        home.space.append(batch, now=now)
    taken = []
    for batch in batches(events_of(corpus(2000, count, seed=8), redactor), 1):
        begin = time.perf_counter()
        home.space.append(batch, now=now)
        taken.append((time.perf_counter() - begin) * 1000)
    home.close()
    cuts = statistics.quantiles(taken, n=1000)
    say(
        "live commit",
        f"p50 {cuts[499]:.2f} ms",
        f"p99 {cuts[989]:.2f} ms",
        f"p99.9 {cuts[998]:.2f} ms",
        f"slowest {max(taken):.1f} ms",
    )


def lists(count: int) -> None:
    """Lists, look-ups and stale checks with 10,000 sessions."""
    redactor = load_redactor(b"bench")
    home = Home()
    now = datetime.now(UTC)
    prose = Prose(3)
    records = [(prose.uuid(), 0, b'{"type":"user"}') for _ in range(10_000)]
    for batch in batches(events_of(records, redactor), BATCH):
        home.space.append(batch, now=now)
    name = records[77][0]
    calls: dict[str, Callable[[], object]] = {
        "contexts()": home.space.contexts,
        "contexts(limit=0)": lambda: home.space.contexts(limit=0),
        "contexts(project=)": lambda: home.space.contexts(project="/home/dev"),
        "contexts(project= of none)": lambda: home.space.contexts(project="/nowhere"),
        "find(prefix)": lambda: home.space.find(name[:13]),
        "by_session": lambda: home.space.by_session("claude", name),
        "stale": lambda: home.space.stale(10),
        "checkpoints": home.space.checkpoints,
        "dedup_status": home.space.dedup_status,
    }
    for label, call in calls.items():
        call()
        begin = time.perf_counter()
        for _ in range(20):
            call()
        say(
            "10,000 sessions", f"{label:28}", f"{(time.perf_counter() - begin) / 20 * 1000:8.3f} ms"
        )
    home.close()


def codecs(count: int) -> None:
    """Sizes and speeds of ways to compress bodies: each alone, and in blocks of 64 KiB."""
    dictionary = (
        Path(sys.modules[open_store.__module__].__file__ or "").parent / "sqlite" / "bodies.dict"
    ).read_bytes()
    for size in (600, 2000):
        bodies = [data for _, _, data in corpus(size, min(count, 10_000))]
        say(f"none               {sum(map(len, bodies)) / len(bodies):6.0f} B", "ratio 1.000")
        for label, pieces in (("alone", bodies), ("blocks", list(blocks(bodies)))):
            for level in (1, 3):
                for name in ("plain", "dict"):
                    data = zstandard.ZstdCompressionDict(dictionary) if name == "dict" else None
                    measure(f"{label:6} zstd {level} {name:5}", pieces, len(bodies), level, data)


def blocks(bodies: list[bytes], size: int = 64 * 1024) -> Iterator[bytes]:
    block: list[bytes] = []
    for body in bodies:
        block.append(body)
        if sum(map(len, block)) >= size:
            yield b"".join(block)
            block.clear()
    yield b"".join(block)


def measure(
    label: str,
    pieces: list[bytes],
    count: int,
    level: int,
    dictionary: zstandard.ZstdCompressionDict | None,
) -> None:
    if dictionary is not None:
        dictionary.precompute_compress(level=level)
    writer = zstandard.ZstdCompressor(level=level, dict_data=dictionary, write_dict_id=False)
    reader = zstandard.ZstdDecompressor(dict_data=dictionary)
    begin = time.perf_counter()
    packed = [writer.compress(piece) for piece in pieces]
    middle = time.perf_counter()
    for piece in packed:
        reader.decompress(piece)
    end = time.perf_counter()
    say(
        label,
        f"ratio {sum(map(len, packed)) / sum(map(len, pieces)):.3f}",
        f"{(middle - begin) / count * 1e6:5.1f} µs a record",
        f"back {(end - middle) / count * 1e6:5.1f} µs",
    )


def say(*words: str) -> None:
    sys.stdout.write("  ".join(words) + "\n")
    sys.stdout.flush()


def main() -> None:
    parts: dict[str, Callable[[int], None]] = {
        "append": append,
        "codecs": codecs,
        "live": live,
        "lists": lists,
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("part", nargs="*", choices=[*parts, []])
    parser.add_argument("--events", type=int, default=50_000)
    chosen = parser.parse_args()
    say(f"SQLite {sqlite3.sqlite_version}, Python {sys.version.split()[0]}")
    for name in chosen.part or parts:
        parts[name](min(chosen.events, 5000) if name == "live" else chosen.events)
    say(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
