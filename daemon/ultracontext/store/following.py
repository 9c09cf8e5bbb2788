"""A captured session that is read once and then followed as it grows."""

from __future__ import annotations

from ultracontext.formats import Activity
from ultracontext.model import Message
from ultracontext.redaction import Redactor
from ultracontext.store.base import ContextRow, SpaceStore
from ultracontext.store.session import fed_from, reader_of


class OpenSession:
    """One session, read once and then followed.

    `advance` costs what is new, but for sessions whose agent changes records in place: those are
    read anew.
    """

    def __init__(self, space: SpaceStore, row: ContextRow, redactor: Redactor) -> None:
        self._space = space
        self._row = row
        self._redactor = redactor
        self._read_once = False
        self._begin()

    @property
    def row(self) -> ContextRow:
        """As of the last `advance`."""
        return self._row

    @property
    def context_id(self) -> str:
        return self._row.context_id

    def advance(self) -> bool:
        """Reads what came since; whether anything did."""
        row = self._space.find(self._row.context_id)
        if self._read_once and row == self._row:
            return False
        edited = row.version != self._row.version
        self._row = row
        if not self._read_once or edited or self._revised or not self._feed(self._next):
            self._begin()
            self._feed(0)
        self._read_once = True
        return True

    def messages(self) -> list[Message]:
        """All messages so far, settled: results beside their calls, twins removed."""
        try:
            return list(self._reader.settle(list(self._fed)))
        except Exception:  # noqa: BLE001  # unsettled is better than nothing
            return list(self._fed)

    def _begin(self) -> None:
        self._reader = reader_of(self._row)
        self._fed: list[Message] = []
        self.places: dict[str, int] = {}
        """Position of the node of each of the session's own messages, by message id; messages of
        its beginning in another session are not in it."""
        self._next = 0
        self._revised = False
        self.activity = Activity()

    def _feed(self, first: int) -> bool:
        came = False
        for node, messages in fed_from(
            self._space, self._row, self._redactor, self._reader, first=first
        ):
            came = True
            self._fed += messages
            self.activity.see(messages)
            if node is not None:
                self.places.update((message.id, node.position) for message in messages)
                self._next = node.position + 1
                self._revised = self._revised or node.revision > 0
        return came
