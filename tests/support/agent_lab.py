"""One agent of ours, its files as a test writes them, and a real store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from capture_lab import SECRET, redactor

from ultracontext.agents import known
from ultracontext.capture import CaptureEngine, CaptureOptions, Summary
from ultracontext.model import Message
from ultracontext.store import ContextRow, open_store
from ultracontext.store.base import LOCAL_SPACE
from ultracontext.store.session import Session, read_session


class AgentLab:
    """A root folder of an agent, captured whenever the test says so, each time by a new engine."""

    def __init__(self, folder: Path, agent: str) -> None:
        self.agent = agent
        self.spec = known()[agent]
        self.root = folder / "root"
        self.root.mkdir(parents=True, exist_ok=True)
        self.path = folder / "home" / "store.db"
        self.store = open_store(self.path, migrate=True)
        self.space = self.store.within(LOCAL_SPACE)

    def engine(self, **options: Any) -> CaptureEngine:
        return CaptureEngine(
            store=self.space, redactor=redactor(), secret=SECRET, agents=[self.spec],
            roots={self.agent: [self.root]}, options=CaptureOptions(**options),
        )  # fmt: skip

    def run(self, **options: Any) -> Summary:
        return self.engine(**options).run_once()

    def write(self, name: str, records: Iterable[dict[str, Any]], mode: str = "ab") -> Path:
        """Appends records, or with `wb` replaces the file."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode) as out:
            out.writelines(json.dumps(record).encode() + b"\n" for record in records)
        return path

    def row(self, session: str) -> ContextRow:
        found = self.space.by_session(self.agent, session)
        assert found is not None, session
        return found

    def sessions(self) -> list[str]:
        return sorted(row.session_id for row in self.space.contexts(limit=0, children=True))

    def show(self, session: str, **how: Any) -> Session:
        return read_session(self.space, self.row(session), redactor(), **how)

    def said(self, session: str, **how: Any) -> list[str]:
        """What was typed and answered, and still stands."""
        return [m.text for m in self.show(session, **how).messages if _stands(m)]

    def texts(self, session: str, **how: Any) -> list[str]:
        """The same, with what was put aside."""
        return [m.text for m in self.show(session, **how).messages if _speaks(m)]

    def heads(self, session: str) -> list[tuple[str, dict[str, Any], list[str]]]:
        """(operation, metadata, affected) of the versions behind the first."""
        connection = sqlite3.connect(self.path)
        rows = connection.execute(
            "SELECT operation, metadata, affected FROM heads WHERE version > 0 AND context ="
            " (SELECT ref FROM contexts WHERE context_id = ?) ORDER BY version",
            (self.row(session).context_id,),
        ).fetchall()
        connection.close()
        return [(op, json.loads(metadata), json.loads(names)) for op, metadata, names in rows]

    def affected(self, session: str) -> list[tuple[str, list[str]]]:
        """(cause, texts put aside) of the versions behind the first."""
        texts = {m.id: m.text for m in self.show(session).messages if _speaks(m)}
        return [
            (metadata["cause"], [texts[name] for name in names if name in texts])
            for _, metadata, names in self.heads(session)
        ]


def _speaks(message: Message) -> bool:
    return message.kind in ("user", "assistant")


def _stands(message: Message) -> bool:
    gone = ("undone", "deleted", "compacted")
    left = message.metadata.get("branch") == "abandoned"
    return _speaks(message) and not left and not any(name in message.metadata for name in gone)


class ClaudeTalk:
    """Records of one Claude Code session."""

    def __init__(self, session: str, name: str = "u") -> None:
        self.session, self.name = session, name
        self.count = 0
        self.last: str | None = None

    def _next(self, **more: Any) -> dict[str, Any]:
        uuid = f"{self.name}{self.count:035}"
        record = {
            "uuid": uuid, "parentUuid": self.last, "sessionId": self.session, "cwd": "/w/app",
            "timestamp": f"2026-11-30T10:{self.count // 60:02}:{self.count % 60:02}.000Z",
            "isSidechain": False, **more,
        }  # fmt: skip
        self.count += 1
        self.last = uuid
        return record

    def prompt(self, text: str) -> dict[str, Any]:
        return self._next(type="user", message={"role": "user", "content": text})

    def answer(self, text: str) -> dict[str, Any]:
        block = {"type": "text", "text": text}
        message = {"id": f"msg_{self.name}{self.count}", "role": "assistant", "content": [block]}
        return self._next(type="assistant", message=message)

    def turn(self, text: str) -> list[dict[str, Any]]:
        return [self.prompt(text), self.answer(f"to {text}")]

    def boundary(self) -> dict[str, Any]:
        above, self.last = self.last, None
        record = self._next(type="system", subtype="compact_boundary", content="compacted")
        return {**record, "logicalParentUuid": above, "compactMetadata": {"trigger": "manual"}}

    def back_to(self, record: dict[str, Any]) -> None:
        """The next prompt comes in the place of this one."""
        self.last = record["parentUuid"]
