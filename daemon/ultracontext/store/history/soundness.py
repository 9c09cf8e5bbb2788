"""Rows of a walk checked against the chain, with what repairs have closed taken into account."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ultracontext.chain import (
    Remask,
    RowChain,
    birth_digest,
    borne_out,
    content_digest,
    link,
    load_json,
)
from ultracontext.errors import BrokenChainError
from ultracontext.store.contexts import Gap
from ultracontext.store.history.rows import Content, Head, Root, Row, Rows
from ultracontext.store.history.selection import seal_of

Run = Callable[[Callable[[Rows], object]], object]


@dataclass(slots=True)
class Repairs:
    """What earlier repairs recorded."""

    closed: list[tuple[int, int]] = field(default_factory=list)
    """Positions whose rows are not sound."""
    anchors: dict[bytes, bytes] = field(default_factory=dict)
    """Rows behind a gap, by event id: the digest of the content that was found."""

    @classmethod
    def of(cls, heads: Iterable[Head]) -> Repairs:
        found = cls()
        for head in heads:
            if head.repair is None:
                continue
            repair = load_json(head.repair)
            found.closed += [(first, last) for first, last, _ in repair["gaps"]]
            for name, digest in repair["anchors"]:
                found.anchors[bytes.fromhex(name)] = bytes.fromhex(digest)
        return found

    def close(self, first: int, last: int) -> bool:
        """Whether every position of a range is closed."""
        return all(
            any(low <= place <= high for low, high in self.closed)
            for place in range(first, last + 1)
        )


class Soundness:
    """Goes along with a walk in order; says of each row whether it is sound.

    `gaps` grows by what is not; without `salvage` the first one raises BrokenChainError. `anchors`
    are the rows behind a gap, with the digest of their content."""

    def __init__(
        self,
        root: Root,
        *,
        start: int,
        salvage: bool,
        repairs: Callable[[], Repairs],
        remasks: Callable[[], list[Remask]],
    ) -> None:
        self.root = root
        self.salvage = salvage
        self.chain = RowChain(copied=root.copied, seal=seal_of(root), position=start - 1)
        if start == 0:
            self.chain.first = [b""]
        self.gaps: list[Gap] = []
        self.anchors: list[tuple[bytes, bytes]] = []
        self._repairs = repairs
        self._repaired: Repairs | None = None
        self._remasks = remasks
        self._by_event: dict[bytes, list[Remask]] | None = None

    @property
    def repaired(self) -> Repairs:
        if self._repaired is None:
            self._repaired = self._repairs()
        return self._repaired

    def check(self, row: Row, content: Content | None) -> bool:
        """`content` is None for a row that the version does not show: its link is believed."""
        stands_on = self.chain.take(row)
        digest = None if content is None else self._digest(row, content)
        if stands_on is None and row.position > self.chain.position + 1:
            self._missing(self.chain.position + 1, row.position - 1)
            return self._anchor(row, digest)
        if digest is None:
            self.chain.passed(row)
            return True
        if stands_on is None:
            return self._wrong(row, digest, "extra", None)
        if borne_out(row, stands_on, digest):
            if not borne_out(row, stands_on[:1], digest):
                self.anchors.append((row.event_id, digest))  # the link before is not the stored one
            self.chain.passed(row)
            return True
        return self._wrong(row, digest, "content", stands_on[0] if stands_on else None)

    def end(self, until: int) -> None:
        """The walk is through: all positions up to here were there."""
        if self.chain.position + 1 < until:
            self._missing(self.chain.position + 1, until - 1)
            self.chain.position = until - 1

    def miss(self, position: int, reason: str, version: int | None = None) -> None:
        self._gap(Gap(first=position, last=position, reason=reason, version=version))

    def _missing(self, first: int, last: int) -> None:
        if not self.repaired.close(first, last):
            self._gap(Gap(first=first, last=last, reason="missing"))

    def _anchor(self, row: Row, digest: bytes | None) -> bool:
        """The first row behind missing ones: nothing is left that it could be checked against."""
        known = self.repaired.anchors.get(row.event_id)
        sound = known is None or digest is None or known == digest
        self.chain.passed(row)
        if digest is not None:
            self.anchors.append((row.event_id, digest))
        if not sound:
            self._gap(Gap(first=row.position, last=row.position, reason="content"))
        return sound

    def _wrong(self, row: Row, digest: bytes, reason: str, before: bytes | None) -> bool:
        computed = None if before is None else link(before, digest)
        known = self.repaired.anchors.get(row.event_id)
        closed = self.repaired.close(row.position, row.position)
        self.chain.passed(row, computed)
        if known == digest:
            return True
        if not closed:
            self._gap(Gap(first=row.position, last=row.position, reason=reason))
        return False

    def _gap(self, gap: Gap) -> None:
        if not self.salvage:
            raise BrokenChainError(self.root.context_id, position=gap.first, reason=gap.reason)
        last = self.gaps[-1] if self.gaps else None
        if last is not None and last.reason == gap.reason and last.last >= gap.first - 1:
            self.gaps[-1] = Gap(
                first=last.first, last=max(last.last, gap.last), reason=gap.reason,
                version=last.version,
            )  # fmt: skip
        else:
            self.gaps.append(gap)

    def _digest(self, row: Row, content: Content) -> bytes:
        """Of the content at birth: masked again since, it is another one."""
        current = content_digest(content.body, content.extra)
        if row.rule_set is None:
            return current
        if self._by_event is None:
            self._by_event = {}
            for found in self._remasks():
                self._by_event.setdefault(found.event_id, []).append(found)
        born = birth_digest(current, self._by_event.get(row.event_id, ()))
        return current if born is None else born
