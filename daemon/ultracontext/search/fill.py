"""Fills the index behind the store: each session whose rows changed is read on and compared.

It goes by sessions, not by events, because only a session's reader knows which of its messages are
twins, undone or changed. What is compared is what `show` gives.
"""

from __future__ import annotations

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from hashlib import blake2b
from typing import Any

from ultracontext.errors import NotFoundError
from ultracontext.model import Message
from ultracontext.redaction import Redactor
from ultracontext.search.index import KINDS, Doc, Index, IndexedContext
from ultracontext.search.words import LONGEST, parted, wholes
from ultracontext.store.base import ContextRow, SpaceStore
from ultracontext.store.following import OpenSession

OPEN = 16
"""Sessions that are kept open between two fillings, to read only what is new of them."""
STEP = 500
"""Rows of one transaction."""


class Filler:
    """The one writer of an index."""

    def __init__(self, index: Index, space: SpaceStore, redactor: Redactor) -> None:
        if index.space != space.space:
            raise ValueError("an index holds one space")
        self.index = index
        self._space = space
        self._redactor = redactor
        self._open: OrderedDict[str, OpenSession] = OrderedDict()
        self.behind: int | None = None
        """Sessions that were behind at the last look, less what was done since."""

    def catch_up(
        self, *, stop: Callable[[], bool] = lambda: False, wait: Callable[[], None] = lambda: None
    ) -> Iterator[int]:
        """Everything that changed since the last time, newest activity first; gives the messages
        written at each session. `wait` is called before each, to let others go first."""
        late = self._late()
        self.behind = len(late)
        for context_id in late:
            if stop():
                return
            wait()
            yield self.update(context_id)
            self.behind -= 1

    def _late(self) -> list[str]:
        """Sessions that changed, after those that are gone were dropped. Only their names are kept:
        the rows of all sessions are large."""
        rows = self._space.contexts(limit=0, children=True)
        known = {row.context_id for row in rows}
        stamps = dict(self.index.rows("SELECT context_id, stamp FROM contexts"))
        late: list[str] = [
            row.context_id for row in rows if stamps.get(row.context_id) != stamp_of(row)
        ]
        del rows
        self._drop(name for name in stamps if name not in known)
        return late

    def update(self, context_id: str) -> int:
        """Brings one session up to date; how many messages were written."""
        try:
            session = self._session(context_id)
            session.advance()
        except NotFoundError:
            self._drop([context_id])
            return 0
        return self._write(session)

    def rest(self) -> None:
        """Lets go of the sessions that are kept open, and of what the database keeps in memory."""
        self._open.clear()
        self.index.rows("PRAGMA shrink_memory")

    def forget(self, context_ids: Iterable[str]) -> list[str]:
        """Leaves no trace of wiped sessions. Sessions that lay beside them are out of the index
        until they are filled again by `update`: their ids."""
        names = list(context_ids)
        for name in names:
            self._open.pop(name, None)
        again = self.index.drop(names) if names else []
        for name in again:
            self._open.pop(name, None)
        return again

    def _drop(self, context_ids: Iterable[str]) -> None:
        for name in self.forget(context_ids):
            self.update(name)

    def _session(self, context_id: str) -> OpenSession:
        session = self._open.pop(context_id, None)
        if session is None:
            row = self._space.find(context_id)
            session = OpenSession(self._space, row, self._redactor)
        self._open[context_id] = session
        while len(self._open) > OPEN:
            self._open.popitem(last=False)
        return session

    def _write(self, session: OpenSession) -> int:
        row = session.row
        wanted = {(doc.position, doc.part): doc for doc in documents(session)}
        known = self.index.context(row.context_id)
        before = self.index.docs(known.ref) if known is not None else {}
        gone = [before[key][0] for key, doc in before.items() if _differs(doc[1], wanted.get(key))]
        new = [doc for key, doc in wanted.items() if _differs(doc, _doc(before.get(key)))]
        moved = [
            (doc.place, before[key][0])
            for key, doc in wanted.items()
            if key in before and before[key][1].place != doc.place
        ]
        with self.index.writing() as db:
            here = self._enter(db, row, known)
            db.executemany("UPDATE docs SET dead = 1 WHERE id = ?", [(n,) for n in gone])
            db.executemany("UPDATE docs SET place = ? WHERE id = ?", moved)
            self._insert(db, here, new[:STEP])
            if len(new) <= STEP:
                self._stamp(db, row, here)
                return len(new)
        for start in range(STEP, len(new), STEP):
            with self.index.writing() as db:
                self._insert(db, here, new[start : start + STEP])
        with self.index.writing() as db:
            self._stamp(db, row, here)
        return len(new)

    @staticmethod
    def _stamp(db: sqlite3.Connection, row: ContextRow, here: IndexedContext) -> None:
        """The session is indexed as it is in this row."""
        db.execute("UPDATE contexts SET stamp = ? WHERE ref = ?", (stamp_of(row), here.ref))

    def _enter(
        self, db: sqlite3.Connection, row: ContextRow, known: IndexedContext | None
    ) -> IndexedContext:
        facts = row.facts
        told = (row.session_id, row.agent, facts.project_path, facts.git_remote, facts.title,
                json.dumps(facts.files))  # fmt: skip
        if known is not None:
            db.execute(
                "UPDATE contexts SET session_id = ?, agent = ?, project_path = ?, git_remote = ?,"
                " title = ?, files = ?, stamp = NULL WHERE ref = ?",
                (*told, known.ref),
            )
            return known
        shard = self.index.shard_for_new(db)
        found = db.execute(
            "INSERT INTO contexts (session_id, agent, project_path, git_remote, title, files,"
            " context_id, shard) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*told, row.context_id, shard),
        )
        return IndexedContext(
            ref=int(found.lastrowid or 0), context_id=row.context_id, shard=shard, stamp=None
        )

    def _insert(self, db: sqlite3.Connection, here: IndexedContext, docs: list[Doc]) -> None:
        for doc in docs:
            number = db.execute(
                "INSERT INTO docs (context, position, part, place, kind, tool, time_ms, digest)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (here.ref, doc.position, doc.part, doc.place, KINDS.index(doc.kind),
                 self.index.tool(db, doc.tool), doc.time_ms,
                 doc.digest),
            ).lastrowid  # fmt: skip
            db.execute(
                f"INSERT INTO shard_{here.shard:d}(rowid, t, w) VALUES (?, ?, ?)",  # noqa: S608
                (number, parted(doc.text), wholes(doc.text)),
            )
        db.execute("UPDATE shards SET docs = docs + ? WHERE shard = ?", (len(docs), here.shard))


def documents(session: OpenSession) -> Iterator[Doc]:
    """The session's own messages as they are searched: no bookkeeping, nothing empty."""
    for place, message in enumerate(session.messages()):
        position = session.places.get(message.id)
        if message.kind == "meta" or position is None:
            continue
        text = text_of(message)
        if text.strip():
            _, _, part = message.id.partition(".")
            yield Doc(
                position=position,
                part=int(part) if part.isdecimal() else 0,
                place=place,
                kind=message.kind,
                tool=message.tool.name if message.tool is not None else None,
                time_ms=milliseconds_of(message.timestamp),
                digest=blake2b(text.encode("utf-8", "replace"), digest_size=6).digest(),
                text=text,
            )


def text_of(message: Message) -> str:
    """What is searched of a message: of a call also everything in its input; its output is
    another message."""
    if message.kind != "tool_call" or message.tool is None:
        return message.text
    parts = [message.tool.name, *strings(message.tool.input)]
    if not message.tool.input:
        parts.append(message.text)
    return "\n".join(parts)[:LONGEST]


def strings(value: Any) -> Iterator[str]:
    """All texts in a value, keys left out."""
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, dict):
            stack += reversed(found.values())
        elif isinstance(found, list):
            stack += reversed(found)
        elif isinstance(found, (int, float)) and not isinstance(found, bool):
            yield str(found)


def stamp_of(row: ContextRow) -> bytes:
    """Differs when the index has to look at the session again."""
    told = f"{row.nodes}/{row.version}/{row.rule_set}/{row.facts.updated_at}/{row.facts.title}"
    told += f"/{row.facts.messages}/{row.facts.project_path}/{len(row.facts.files)}"
    return blake2b(told.encode("utf-8", "replace"), digest_size=12).digest()


def milliseconds_of(stamp: str | None) -> int | None:
    if not stamp:
        return None
    try:
        return int(datetime.fromisoformat(stamp).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def _doc(found: tuple[int, Doc] | None) -> Doc | None:
    return None if found is None else found[1]


def _differs(doc: Doc, other: Doc | None) -> bool:
    return other is None or doc.digest != other.digest or doc.kind != other.kind
