"""A switch in memory and in a folder: a session of any recording, any target, any failure."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recordings import Files, redactor

from ultracontext.agents import agent, known
from ultracontext.formats.gate import open_writer
from ultracontext.runtime.machine import LocalMachine
from ultracontext.switch.commit import commit
from ultracontext.switch.fit import Place, Wish
from ultracontext.switch.ledger import Ledger, Row
from ultracontext.switch.plan import Planned, Surroundings, prepare
from ultracontext.switch.session import MaskedSession

NOW = datetime(2026, 11, 30, 12, 0, 0, 123000, tzinfo=UTC)
CWD = "/w/app"
VERSIONS = {"claude": "2.1.332", "codex": "0.171.0"}
"""Of the targets that are plain files, so that no program has to run."""

THREADS = """
CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, source TEXT NOT NULL,
  model_provider TEXT NOT NULL, cwd TEXT NOT NULL, title TEXT NOT NULL,
  sandbox_policy TEXT NOT NULL, approval_mode TEXT NOT NULL, preview TEXT NOT NULL DEFAULT '');
CREATE TABLE backfill_state (id INTEGER PRIMARY KEY, status TEXT NOT NULL);
INSERT INTO backfill_state VALUES (1, 'complete');
INSERT INTO threads VALUES ('t', '/x', 1, 1, 'cli', 'openai', '/w', 'an old one',
  '{"type":"read-only"}', 'never', 'an old one');
"""
"""Of a home that was used before: the columns that matter of `state_5.sqlite` (0.171, run)."""


def used_home(root: Path) -> None:
    """Makes the index of a home of Codex."""
    root.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(root / "state_5.sqlite")) as database:
        database.executescript(THREADS)


def threads(root: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{root / 'state_5.sqlite'}?mode=ro", uri=True)) as database:
        return database.execute("SELECT * FROM threads ORDER BY id").fetchall()


@dataclass(kw_only=True)
class Lab:
    """One folder with a source's home, targets' homes and a ledger."""

    base: Path

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.base / "switch.db")

    def machine(self, slug: str, root: Path) -> LocalMachine:
        return LocalMachine(known(), {slug: [root]}, redactor())

    def root(self, slug: str, name: str = "home") -> Path:
        return Path(str(agent(slug).roots({}, self.base / name)[0]))

    def sessions(self, slug: str, files: Files | Mapping[str, bytes]) -> list[MaskedSession]:
        """The sessions in which somebody typed something."""
        root = self.root(slug, "source")
        for path, data in dict(files).items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        machine = self.machine(slug, root)
        return [s for file in machine.files([slug]) for s in machine.read(file) if talked(s)]

    def plan(
        self, session: MaskedSession, target: str, wish: Wish | None = None, *,
        root: Path | None = None, version: str | None = None,
    ) -> Planned:  # fmt: skip
        place = root or self.root(target)
        number = version or VERSIONS[target]
        opened = open_writer(session.spec.slug, target, number, agents=known(), force=True)
        around = Surroundings(
            home=self.base / "home", environment={}, root=place, version=number, program=None,
            now=NOW, local=NOW,
        )  # fmt: skip
        return prepare(
            session, agent(target), opened, wish or Wish(), Place(cwd=CWD), around,
            self.machine(target, place), redactor(),
        )  # fmt: skip

    def commit(self, planned: Planned) -> Row:
        machine = self.machine(planned.spec.slug, planned.root)
        return commit(planned, self.ledger, machine, self.base / "keep")

    def read(self, row: Row) -> MaskedSession:
        """What was written, as its own agent's reader sees it."""
        machine = self.machine(row.agent, Path(row.root))
        (found,) = [
            s for f in machine.files([row.agent]) if str(f.path) == row.path
            for s in machine.read(f)
        ]  # fmt: skip
        return found


def talked(session: MaskedSession) -> bool:
    return any(message.kind == "user" for message in session.messages)


def tree(root: Path) -> dict[str, bytes]:
    """Every file and folder below, by its relative path."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else b"/"
        for path in sorted(root.rglob("*"))
    }


def claude_lines(records: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """A session of Claude Code out of (kind, content) pairs; see `spoken`."""
    import json

    name = f"projects/-w-app/{CLAUDE_ID}.jsonl"
    return {name: b"".join(json.dumps(record).encode() + b"\n" for record in records)}


CLAUDE_ID = "00000000-0000-4000-8000-00000000abcd"


def spoken(*said: tuple[str, Any]) -> Iterator[dict[str, Any]]:
    """(`user` or `assistant`, content) in order, as records of Claude Code."""
    for number, (kind, content) in enumerate(said):
        message: dict[str, Any] = {"role": kind, "content": content}
        if kind == "assistant":
            blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
            message |= {"id": f"m{number}", "model": "claude-x", "content": blocks}
        yield {
            "type": kind, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None,
            "sessionId": CLAUDE_ID, "timestamp": f"2026-11-30T10:00:{number % 60:02}.000Z",
            "cwd": CWD, "version": "2.1.332", "isSidechain": False, "message": message,
        }  # fmt: skip


def use(name: str, given: Any, call_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}
