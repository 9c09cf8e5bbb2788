"""What differs between two versions."""

from __future__ import annotations

from ultracontext.chain import shown
from ultracontext.redaction import Redactor
from ultracontext.store.contexts import Difference, StoredMessage
from ultracontext.store.history.listing import metadata_of
from ultracontext.store.history.reading import message_at
from ultracontext.store.history.rows import Root, Row, Rows
from ultracontext.store.history.selection import extent, metadata_at, places_of

AT_ONCE = 500


def difference(rows: Rows, root: Root, a: int, b: int, redactor: Redactor | None) -> Difference:
    """Looks at the rows that were born or superseded between the two, and at no other."""
    sides = Sides(rows, root, a, b, redactor)
    found = Difference(a=a, b=b, added=[], removed=[], changed=[])
    low, high = min(a, b), max(a, b)
    places = rows.changed(root, low, high, max(sides.ends))
    for start in range(0, len(places), AT_ONCE):
        there = rows.at_positions(root, places[start : start + AT_ONCE])
        for position in dict.fromkeys(row.position for row in there):
            sides.compare(found, [row for row in there if row.position == position])
    before, after = (metadata_of(root, metadata_at(rows, root, version)) for version in (a, b))
    if before != after:
        found.metadata = (before, after)
    return found


class Sides:
    """The two versions."""

    def __init__(self, rows: Rows, root: Root, a: int, b: int, redactor: Redactor | None) -> None:
        self.rows = rows
        self.root = root
        self.versions = (a, b)
        self.redactor = redactor
        self.ends = tuple(extent(rows, root, version, None)[1] for version in (a, b))
        self.places = [
            places_of(rows, root, version, end)
            for version, end in zip(self.versions, self.ends, strict=True)
        ]

    def compare(self, found: Difference, here: list[Row]) -> None:
        rows = [self._shown(here, side) for side in (0, 1)]
        if rows[0] is not None and rows[1] is not None and rows[0].key == rows[1].key:
            return
        before, after = (
            None if row is None else self._message(row, side) for side, row in enumerate(rows)
        )
        if before is not None and after is not None:
            found.changed.append((before, after))
        elif after is not None:
            found.added.append(after)
        elif before is not None:
            found.removed.append(before)

    def _shown(self, here: list[Row], side: int) -> Row | None:
        for row in here:
            if row.position < self.ends[side] and shown(
                row.born, row.superseded, self.versions[side]
            ):
                return row
        return None

    def _message(self, row: Row, side: int) -> StoredMessage:
        index = self.places[side].index_of(row.position)
        return message_at(self.rows, self.root, row, index, self.redactor)
