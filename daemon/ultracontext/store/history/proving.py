"""Goes through the whole chain of a context, and closes what is not sound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ultracontext.chain import Seal, first_break, head_link, load_json, shown
from ultracontext.store.contexts import Gap, Verification
from ultracontext.store.history.listing import gaps_in
from ultracontext.store.history.message import id_of, name_of, no_context
from ultracontext.store.history.rows import Content, Head, Key, Root, Row, Rows
from ultracontext.store.history.selection import seal_of
from ultracontext.store.history.soundness import Repairs, Soundness
from ultracontext.store.history.writing import Writing, head_facts

PAGE_ROWS = 200
PAGE_BYTES = 4 << 20


@dataclass(slots=True)
class Proof:
    """One pass over a context."""

    root: Root
    heads: list[Head]
    soundness: Soundness
    rows: int = 0
    at: dict[int, bytes] = field(default_factory=dict)
    """Event id of a row at the positions that are not sound."""
    written: dict[int, list[bytes]] = field(default_factory=dict)
    """Links of the rows that a head wrote."""
    tails: dict[int, bytes] = field(default_factory=dict)
    """Link of the last position before a head."""
    expected: dict[bytes, int] = field(default_factory=dict)
    """Rows that heads say they superseded, and in which version."""
    unsound: list[Row] = field(default_factory=list)
    seal: Seal = field(init=False)

    def __post_init__(self) -> None:
        self.seal = Seal(self.root.context_id)
        for head in self.heads:
            for name in load_json(head.affected) if head.affected else []:
                self.expected[name_of(name) or b""] = head.version
        self.tails = {head.positions: b"" for head in self.heads}
        if self.root.copied in self.tails:
            self.tails[self.root.copied] = seal_of(self.root)

    def look(self, row: Row, content: Content) -> None:
        self.rows += 1
        first = row.position != self.soundness.chain.position
        before = len(self.soundness.gaps), self._last()
        sound = self.soundness.check(row, content)
        if first and row.base is not None:
            self.seal.add(row.chain or b"")
        elif first and row.position + 1 in self.tails:
            self.tails[row.position + 1] = row.chain or b""
        if not first and not row.captured:
            self.written.setdefault(row.born, []).append(row.chain or b"")
        self._superseded(row)
        if not sound or before != (len(self.soundness.gaps), self._last()):
            self.at.setdefault(row.position, row.event_id)
        if not sound:
            self.unsound.append(row)

    def _last(self) -> Gap | None:
        return self.soundness.gaps[-1] if self.soundness.gaps else None

    def _superseded(self, row: Row) -> None:
        """What hides a row stands in a head, or is a revision of the same record."""
        said = self.expected.pop(row.event_id[:12], None)
        if said == row.superseded or (said is None and row.captured):
            return
        if said is None and row.superseded is None:
            return
        if not self.soundness.repaired.close(row.position, row.position):
            self.soundness.miss(row.position, "version", row.superseded or said)
            self.unsound.append(row)

    def finish(self) -> None:
        self.soundness.end(self.root.next_position)
        sealed = self.seal.count == self.root.copied and self.seal.digest() == seal_of(self.root)
        if not sealed and not self.soundness.repaired.closed and not self.soundness.gaps:
            self.soundness.miss(0, "seal")
        self._heads()

    def _heads(self) -> None:
        """Each head over the one before. After a first gap the links say nothing more."""
        if self.soundness.gaps or self.soundness.repaired.closed:
            return
        if self.expected:
            self.soundness.miss(self.root.next_position, "version", min(self.expected.values()))
            return
        previous = b""
        for number, head in enumerate(self.heads):
            if head.version != number:
                self.soundness.miss(head.positions, "head", number)
                return
            if head.digest is None and number == 0 and self.root.agent is not None:
                continue
            tail, rows = self.tails[head.positions], self.written.get(head.version, [])
            facts = head_facts(self.root.context_id, head)
            if head_link(previous, facts, tail, rows) != head.digest:
                self.soundness.miss(head.positions, "head", number)
                return
            previous = head.digest
        if len(self.heads) != self.root.version + 1:
            self.soundness.miss(self.root.next_position, "head", len(self.heads))


def prove(
    run: Callable[[Callable[[Rows], Any]], Any], context_id: str
) -> tuple[Proof, Verification]:
    """Looks at every row, a bounded page in each transaction."""

    def begin(rows: Rows) -> tuple[Proof, int | None]:
        root = rows.root(context_id)
        if root is None:
            raise no_context(context_id)
        heads = rows.heads(root)
        remasks = rows.remasks(root)
        soundness = Soundness(
            root, start=0, salvage=True,
            repairs=lambda: Repairs.of(heads), remasks=lambda: remasks,
        )  # fmt: skip
        return Proof(root, heads, soundness), first_break(remasks)

    proof, broken = run(begin)
    if broken is not None:
        proof.soundness.miss(0, "remasks")
    after: Key | None = (0, -1, -1)
    while after is not None:
        after = run(partial(_page, proof, after))
    proof.finish()
    return proof, verification(proof)


def _page(proof: Proof, after: Key, rows: Rows) -> Key | None:
    found = rows.page(proof.root, after, proof.root.next_position, PAGE_ROWS)
    taken: list[Row] = []
    size = 0
    for row in found:
        if taken and size + row.size > PAGE_BYTES:
            break
        taken.append(row)
        size += row.size
    for row, content in zip(taken, rows.contents(taken), strict=True):
        if row.born <= proof.root.version:
            proof.look(row, content)
    return taken[-1].key if taken else None


def verification(proof: Proof) -> Verification:
    gaps = sorted(proof.soundness.gaps, key=lambda gap: gap.first)
    first = gaps[0] if gaps else None
    event = proof.at.get(first.first) if first is not None else None
    return Verification(
        context_id=proof.root.context_id,  # type: ignore[arg-type]
        sound=not gaps,
        versions=len(proof.heads),
        rows=proof.rows,
        first_break=first,
        message_id=None if event is None else id_of(event),
        repaired=[gap for head in proof.heads for gap in gaps_in(head)],
    )


def close(writing: Writing, proof: Proof) -> None:
    """A version without what is not sound."""
    gaps = [[gap.first, gap.last, gap.reason] for gap in proof.soundness.gaps]
    anchors = [[name.hex(), digest.hex()] for name, digest in proof.soundness.anchors]
    version = writing.root.version
    unsound = {row.key: row for row in proof.unsound}.values()
    targets = [row for row in unsound if shown(row.born, row.superseded, version)]
    writing.close_gaps(targets, {"gaps": gaps, "anchors": anchors})
