"""Changes rows behind a store's back, as somebody with the file or the database can."""

from __future__ import annotations

import re
from typing import Any

from api_server import RUNNING

from ultracontext.store import SpaceStore
from ultracontext.store.history import Row
from ultracontext.store.http.store import HttpSpaceStore
from ultracontext.store.memory import MemorySpaceStore
from ultracontext.store.postgres.store import PostgresSpaceStore
from ultracontext.store.sqlite.store import SqliteSpaceStore


def tampering(space: SpaceStore, name: str) -> Tampering:
    if isinstance(space, HttpSpaceStore):  # what the server behind it holds
        space = RUNNING[space._link.address.base_url].store.within(space.space)
    if isinstance(space, MemorySpaceStore):
        return InMemory(space, name)
    assert isinstance(space, SqliteSpaceStore | PostgresSpaceStore)
    return InTables(space, name)


class Tampering:
    """What can be done to one context."""

    def content(self, position: int, other: int) -> None:
        """The first row at a position gets the content of another."""
        raise NotImplementedError

    def drop(self, position: int) -> None:
        raise NotImplementedError

    def swap(self, position: int, other: int) -> None:
        raise NotImplementedError

    def hide(self, position: int, version: int | None) -> None:
        """Sets by which version the rows of a position are superseded."""
        raise NotImplementedError

    def link(self, position: int) -> None:
        """Another link for the first row."""
        raise NotImplementedError

    def head(self, version: int) -> None:
        """Other metadata for a version."""
        raise NotImplementedError


class InMemory(Tampering):
    def __init__(self, space: MemorySpaceStore, name: str) -> None:
        self.table = space._rows.tables[name]

    def _first(self, position: int) -> Row:
        return next(self.table.between((position, -1, -1), position + 1))

    def content(self, position: int, other: int) -> None:
        self.table.bodies[self._first(position).key] = self.table.bodies[self._first(other).key]

    def drop(self, position: int) -> None:
        for row in list(self.table.between((position, -1, -1), position + 1)):
            self.table.keys.remove(row.key)
            del self.table.rows[row.key]

    def swap(self, position: int, other: int) -> None:
        one, two = self._first(position), self._first(other)
        bodies = self.table.bodies
        bodies[one.key], bodies[two.key] = bodies[two.key], bodies[one.key]
        self.table.rows[one.key] = two._replace(position=position)
        self.table.rows[two.key] = one._replace(position=other)

    def hide(self, position: int, version: int | None) -> None:
        for row in list(self.table.between((position, -1, -1), position + 1)):
            self.table.rows[row.key] = row._replace(superseded=version)

    def link(self, position: int) -> None:
        row = self._first(position)
        self.table.rows[row.key] = row._replace(chain=b"x" * 16)

    def head(self, version: int) -> None:
        self.table.heads[version].metadata = b'{"tampered":1}'


class InTables(Tampering):
    def __init__(self, space: SqliteSpaceStore | PostgresSpaceStore, name: str) -> None:
        self.space = space
        root = space._in_read(lambda rows: rows.root(name))
        assert root is not None
        self.sqlite = isinstance(space, SqliteSpaceStore)
        self.of = "context = :ref" if self.sqlite else "context_id = :ref"
        self.ref = root.ref

    def _run(self, statement: str, **values: Any) -> None:
        statement = statement.replace("OF_IT", f"space = 'local' AND {self.of}")

        given = {"ref": self.ref, **values}
        if not self.sqlite:
            statement = re.sub(r":([a-z]+)", r"%(\1)s", statement)

        def work(rows: Any) -> None:
            if self.sqlite:
                rows.connection.execute(statement, given)
            else:
                rows.cursor.execute(statement.encode(), given)

        self.space._in_write(work)

    def content(self, position: int, other: int) -> None:
        columns = ("block", "place", "size") if self.sqlite else ("body", "size")
        sets = ", ".join(
            f"{c} = (SELECT {c} FROM nodes WHERE OF_IT AND position = :other ORDER BY born LIMIT 1)"
            for c in columns
        )
        self._run(
            f"UPDATE nodes SET {sets} WHERE OF_IT AND position = :position"
            " AND born = (SELECT min(born) FROM nodes WHERE OF_IT AND position = :position)",
            position=position, other=other,
        )  # fmt: skip

    def drop(self, position: int) -> None:
        self._run("DELETE FROM nodes WHERE OF_IT AND position = :position", position=position)

    def swap(self, position: int, other: int) -> None:
        move = "UPDATE nodes SET position = :new WHERE OF_IT AND position = :old"
        self._run(move, new=1_000_000, old=position)
        self._run(move, new=position, old=other)
        self._run(move, new=other, old=1_000_000)

    def hide(self, position: int, version: int | None) -> None:
        value = "NULL" if version is None else str(version)
        self._run(
            f"UPDATE nodes SET superseded = {value} WHERE OF_IT AND position = :position",
            position=position,
        )

    def link(self, position: int) -> None:
        self._run(
            "UPDATE nodes SET chain = :chain WHERE OF_IT AND position = :position",
            chain=b"x" * 16, position=position,
        )  # fmt: skip

    def head(self, version: int) -> None:
        self._run(
            "UPDATE heads SET metadata = :data WHERE OF_IT AND version = :version",
            data=b'{"tampered":1}', version=version,
        )  # fmt: skip
