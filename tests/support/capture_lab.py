"""A laboratory for capture: a toy agent, a real store, files that change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from ultracontext.capture import CaptureEngine, CaptureOptions, Summary
from ultracontext.formats import AgentSpec, Assignment, Engine, SourceFacts
from ultracontext.model import Base, Message, MessageId, SessionFacts
from ultracontext.redaction import MaskedRecord, Redactor, load_redactor
from ultracontext.store import open_store
from ultracontext.store.base import LOCAL_SPACE, SpaceStore

SECRET = b"k" * 32


class ToyAssigner:
    """`id` names a record where it has one; the first record's `session` names the session."""

    def __init__(self, facts: SourceFacts, state: Mapping[str, Any] | None) -> None:
        self._session = (state or {}).get("session")

    def assign(self, record: MaskedRecord) -> Assignment:
        native = record.native or {}
        if self._session is None and isinstance(native.get("session"), str):
            self._session = native["session"]
        if native.get("vendor"):
            return Assignment(self._session, None, "vendor")
        return Assignment(self._session, native.get("id"))

    def state(self) -> dict[str, Any]:
        return {"session": self._session}


class ToyReader:
    def __init__(self, session_id: str) -> None:
        self._facts = SessionFacts()

    def feed(self, record: MaskedRecord, message_id: MessageId) -> list[Message]:
        native = record.native or {}
        text = native.get("text")
        if not isinstance(text, str):
            return [Message(id=message_id, role="system", kind="meta", event_type="odd", text="")]
        self._facts.messages += 1
        self._facts.title = self._facts.title or text
        return [Message(id=message_id, role="user", kind="user", event_type="said", text=text)]

    def settle(self, messages: list[Message]) -> list[Message]:
        return messages

    def facts(self) -> SessionFacts:
        return self._facts

    def covers(self, record: MaskedRecord, base: Base) -> bool:
        return False


def _classify(path: PurePosixPath) -> SourceFacts | None:
    if path.name.endswith(".log"):
        return SourceFacts(engine=Engine.APPEND_LOG, session_hint=path.name[:-4])
    if path.name.endswith(".log.zst"):
        return SourceFacts(engine=Engine.COMPRESSED_LOG, session_hint=path.name[:-8])
    return None


TOY = AgentSpec(
    slug="toy",
    name="Toy",
    roots=lambda env, home: [PurePath(home) / ".toy"],
    classify=_classify,
    folders=("logs",),
    assigner=ToyAssigner,
    reader=ToyReader,
)


def record(n: int | str, **more: Any) -> bytes:
    return json.dumps({"session": "s1", "id": f"r{n}", "text": f"text {n}", **more}).encode()


def lines(items: Iterable[bytes]) -> bytes:
    return b"".join(item + b"\n" for item in items)


@cache
def redactor() -> Redactor:
    return load_redactor(SECRET)


class Lab:
    """One home, one root, and engines that come and go."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "toy"
        self.logs = self.root / "logs"
        self.logs.mkdir(parents=True)
        self.redactor: Redactor = redactor()
        self.store = open_store(folder / "home" / "store.db", migrate=True)
        self.space: SpaceStore = self.store.within(LOCAL_SPACE)
        self.roots = [self.root]
        self.now = datetime(2026, 11, 30, 12, tzinfo=UTC)

    def engine(self, **options: Any) -> CaptureEngine:
        return CaptureEngine(
            store=self.space,
            redactor=self.redactor,
            secret=SECRET,
            agents=[TOY],
            roots={"toy": self.roots},
            options=CaptureOptions(**options),
            now=lambda: self.now,
        )

    def run(self, **options: Any) -> Summary:
        return self.engine(**options).run_once()

    def write(self, data: bytes, name: str = "a.log", mode: str = "wb") -> Path:
        path = self.logs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode) as out:
            out.write(data)
        return path

    def append(self, data: bytes, name: str = "a.log") -> Path:
        return self.write(data, name, "ab")

    def texts(self, session: str = "s1", *, every: bool = False) -> list[str]:
        """Texts in the store, in order; opaque records as `<damage>`."""
        row = self.space.by_session("toy", session)
        if row is None:
            return []
        found = []
        for node in self.space.nodes(row.context_id, all_revisions=every):
            if node.text is not None:
                found.append(f"<{node.damage or 'opaque'}>")
            else:
                found.append(json.loads(node.body).get("text", "<none>"))
        return found

    def sessions(self) -> list[str]:
        return sorted(r.session_id for r in self.space.contexts(limit=0, children=True))

    def reopen(self) -> None:
        self.store.close()
        self.store = open_store(self.folder / "home" / "store.db", migrate=True)
        self.space = self.store.within(LOCAL_SPACE)
