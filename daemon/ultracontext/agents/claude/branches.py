"""Which messages stand on a branch that was left.

Records form a tree by `parentUuid`. As the program reads it (2.1.332): the last line of the main
chain that has nothing below it is the leaf, and what is not above the leaf is not sent, except the
calls and results that ran in parallel, which hang beside the path. A boundary of a compaction
continues what stands before it.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from ultracontext.model import Message

PARENT = "parent"
"""Key in a message's metadata: the parent of a record that does not follow the record before it."""

ROOT = ""
"""As parent: the record says that nothing stands above it. That counts for typed prompts only: then
the session was wound back to its beginning."""

_TURNS = frozenset({"slash_command", "bash_input", "task"})


class _Record:
    """One chain record, by what its messages say."""

    __slots__ = ("answer", "calls", "parent", "results", "turn", "typed")

    def __init__(self) -> None:
        self.parent = -1
        """Place of the record above; -1 for none."""
        self.answer: str | None = None
        """Id of the answer of which this is a part."""
        self.turn = False
        self.typed = False
        self.calls: list[str] = []
        self.results: list[str] = []

    @property
    def speaks(self) -> bool:
        """A turn or an answer: what trails one (results, hooks, durations) may hang anywhere."""
        return self.turn or self.answer is not None


def abandoned(messages: Sequence[Message]) -> set[str]:
    """The uuids of all records on branches that a later line left."""
    if not any(PARENT in message.metadata for message in messages):
        return set()
    places, records = _tree(messages)
    live = _above(records, _leaf(records))
    answers = {records[place].answer for place in live} - {None}
    calls = {
        call
        for place, record in enumerate(records)
        if place in live or record.answer in answers
        for call in record.calls
    }
    off: dict[int, bool] = dict.fromkeys(live, False)
    for place in range(len(records)):
        _judge(place, records, off, answers, calls)
    return {uuid for uuid, place in places.items() if off[place]}


def _judge(
    place: int,
    records: list[_Record],
    off: dict[int, bool],
    answers: set[str | None],
    calls: set[str],
) -> None:
    """Decides on a record and on all above it that are undecided."""
    undecided = _above(records, place, until=off)
    above = next(reversed(undecided), place)
    left = off.get(records[above].parent, False)
    for below in reversed(undecided):
        left = off[below] = left or _own_way(records[below], answers, calls)


def _own_way(record: _Record, answers: set[str | None], calls: set[str]) -> bool:
    """Whether a record beside the path is more than a part or a result of what is on the path."""
    if record.turn:
        return True
    if record.answer is not None:
        return record.answer not in answers
    return bool(record.results) and not calls.issuperset(record.results)


def _tree(messages: Sequence[Message]) -> tuple[dict[str, int], list[_Record]]:
    places: dict[str, int] = {}
    records: list[_Record] = []
    named: list[str | None] = []
    for message in messages:
        uuid = message.metadata.get("uuid")
        if uuid is None:
            continue
        if uuid not in places:
            places[uuid] = len(records)
            records.append(_Record())
            named.append(message.metadata.get(PARENT))
        _describe(records[places[uuid]], message)
    bridges: dict[str, int] = {}
    for place, parent in enumerate(named):
        if parent == ROOT and records[place].typed:
            continue
        records[place].parent = _parent(parent, place, places, bridges)
    return places, records


def _parent(parent: str | None, place: int, places: dict[str, int], bridges: dict[str, int]) -> int:
    """Place of the parent. One that is not there (left out, or cut off) is bridged as the program
    does: the record before stands in for it, now and for others that name the same parent.
    """
    if parent is None or parent == ROOT:
        return place - 1
    above = places.get(parent)
    return bridges.setdefault(parent, place - 1) if above is None else above


def _describe(record: _Record, message: Message) -> None:
    if message.kind == "user":
        record.turn = record.typed = True
    elif message.event_type in _TURNS:
        record.turn = True
    elif message.kind in ("assistant", "reasoning", "tool_call"):
        record.answer = message.metadata.get("message_id") or message.metadata["uuid"]
    if message.tool is not None:
        own = record.results if message.kind == "tool_result" else record.calls
        own.append(message.tool.call_id)


def _leaf(records: list[_Record]) -> int:
    """The last turn or answer in the file that has no other below it."""
    covered: dict[int, bool] = {}
    for record in records:
        if record.speaks:
            covered.update(dict.fromkeys(_above(records, record.parent, until=covered), True))
    speaking = (place for place in reversed(range(len(records))) if records[place].speaks)
    last = next(speaking, len(records) - 1)
    return next((place for place in (last, *speaking) if place not in covered), last)


def _above(records: list[_Record], place: int, until: Container[int] = ()) -> dict[int, None]:
    """A record and all above it, upwards, to before those of `until`, or where it meets itself."""
    path: dict[int, None] = {}
    while place >= 0 and place not in path and place not in until:
        path[place] = None
        place = records[place].parent
    return path
