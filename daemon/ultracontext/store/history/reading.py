"""A version's messages, page by page, each page in a transaction of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from ultracontext.chain import shown
from ultracontext.errors import BrokenChainError
from ultracontext.redaction import Redactor
from ultracontext.store.contexts import Gap, StoredMessage
from ultracontext.store.history.message import Rendering, no_context
from ultracontext.store.history.rows import WIRE, Content, Key, Root, Row, Rows
from ultracontext.store.history.selection import Selection
from ultracontext.store.history.soundness import Repairs, Soundness

T = TypeVar("T")
PAGE_ROWS = 200
PAGE_BYTES = 4 << 20
Work = Callable[[Rows], T]


class Walk:
    """One walk over the rows that a selection chose."""

    def __init__(
        self,
        run: Callable[[Work[list[StoredMessage]]], list[StoredMessage]],
        selection: Selection,
        *,
        salvage: bool,
        redactor: Redactor | None,
        gaps: list[Gap],
        first: int,
        until: int,
    ) -> None:
        self.run = run
        self.selection = selection
        self.root = selection.root
        self.salvage = salvage
        self.first, self.until = first, until
        """Positions."""
        self.index = selection.first
        self.rendering = Rendering(self.root, redactor)
        self.soundness = Soundness(
            self.root, start=max(0, first - 1), salvage=salvage,
            repairs=lambda: Repairs.of(self._rows.heads(self.root)),
            remasks=lambda: self._rows.remasks(self.root),
        )  # fmt: skip
        self.soundness.gaps = gaps
        self._rows: Rows
        self._waiting: list[Row] = []
        self._after: Key = (max(0, first - 1), -1, -1)
        self._started = self._done = False

    def messages(self) -> Iterator[StoredMessage]:
        if self.first >= self.until:
            return
        while not self._done:
            yield from self.run(self._page)
        self.run(self._settle)

    def _settle(self, rows: Rows) -> list[StoredMessage]:
        """All that the version says to be there was there."""
        self._rows = rows
        self.soundness.end(self.until)
        if self.index != self.selection.last and not self.soundness.gaps and not self.salvage:
            raise BrokenChainError(self.root.context_id, position=self.until, reason="missing")
        return []

    def _page(self, rows: Rows) -> list[StoredMessage]:
        self._rows = rows
        now = rows.root(self.root.context_id)
        if now is None or now.ref != self.root.ref:
            raise no_context(self.root.context_id)
        if not self._started:
            self._started = True
            if self.first > 0:
                self.rendering.time_ms = rows.time_before(self.root, self.first)
        if not self._waiting:
            self._waiting = rows.page(self.root, self._after, self.until, PAGE_ROWS)
            if not self._waiting:
                self._done = True
                return []
            self._after = self._waiting[-1].key
        taken = self._some()
        return self._read(rows, taken)

    def _some(self) -> list[Row]:
        """As many of the waiting rows as their bodies allow at once."""
        size = 0
        for number, row in enumerate(self._waiting):
            size += row.size if self._wanted(row) else 0
            if size > PAGE_BYTES and number:
                taken, self._waiting = self._waiting[:number], self._waiting[number:]
                return taken
        taken, self._waiting = self._waiting, []
        return taken

    def _wanted(self, row: Row) -> bool:
        return row.position >= self.first and shown(
            row.born, row.superseded, self.selection.version
        )

    def _read(self, rows: Rows, taken: Sequence[Row]) -> list[StoredMessage]:
        wanted = [row for row in taken if self._wanted(row)]
        bodies = dict(zip((row.key for row in wanted), rows.contents(wanted), strict=True))
        native = [row for row in wanted if row.form != WIRE]
        nodes = dict(zip((row.key for row in native), rows.nodes(self.root, native), strict=True))
        found: list[StoredMessage] = []
        for row in taken:
            content: Content | None = bodies.get(row.key)
            sound = self._passes(row, content)
            if content is None:
                continue
            if sound and row.form == WIRE:
                found.append(self.rendering.wire(row, content.body, self.index))
            elif sound:
                found.append(self.rendering.captured(row, nodes[row.key], self.index))
            self.index += 1
        return found

    def _passes(self, row: Row, content: Content | None) -> bool:
        if row.position < self.first:  # only its link is wanted, for the first one of the window
            self.soundness.chain.passed(row)
            return True
        return self.soundness.check(row, content)


def positions(selection: Selection) -> tuple[int, int]:
    """The positions from the first to behind the last message that is wanted."""
    if selection.complete:
        return 0, selection.until
    if selection.first >= selection.last:
        return 0, 0
    first = selection.places.position_of(selection.first)
    return first, selection.places.position_of(selection.last - 1) + 1


def message_at(
    rows: Rows, root: Root, row: Row, index: int, redactor: Redactor | None
) -> StoredMessage:
    """One row as a message."""
    rendering = Rendering(root, redactor)
    if row.form == WIRE:
        return rendering.wire(row, rows.contents([row])[0].body, index)
    return rendering.captured(row, rows.nodes(root, [row])[0], index)
