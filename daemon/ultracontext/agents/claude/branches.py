"""Which messages stand on a branch that was left.

Records form a tree by `parentUuid`. As the program reads it (2.1.332): the last line of the main
chain is the leaf, and what is not above the leaf is not sent, except the calls and results that ran
in parallel, which hang beside the path. A boundary of a compaction continues what stands before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ultracontext.model import Message

PARENT = "parent"
"""Key in a message's metadata: the parent of a record that does not follow the record before it."""

ROOT = ""
"""As parent: the record begins anew, nothing stands above it."""

_TURNS = frozenset({"slash_command", "bash_input", "task"})


class _Record:
    """One chain record, by what its messages say."""

    __slots__ = ("answer", "calls", "parent", "results", "turn")

    def __init__(self, parent: int) -> None:
        self.parent = parent
        """Place of the record above; -1 for none."""
        self.answer: str | None = None
        """Id of the answer of which this is a part."""
        self.turn = False
        self.calls: list[str] = []
        self.results: list[str] = []


def abandoned(messages: Sequence[Message]) -> set[str]:
    """The uuids of all records on branches that a later line left."""
    if not any(PARENT in message.metadata for message in messages):
        return set()
    places, records = _tree(messages)
    live = _live(records)
    answers = {records[place].answer for place in live} - {None}
    calls = {call for place in live for call in records[place].calls}
    off: set[int] = set()
    for place, record in enumerate(records):
        if place not in live and (record.parent in off or _own_way(record, answers, calls)):
            off.add(place)
        elif record.answer in answers:
            calls.update(record.calls)
    return {uuid for uuid, place in places.items() if place in off}


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
    for message in messages:
        uuid = message.metadata.get("uuid")
        if uuid is None:
            continue
        place = places.get(uuid)
        if place is None:
            place = len(records)
            records.append(_Record(_above(message, places, place)))
            places[uuid] = place
        _describe(records[place], message)
    return places, records


def _above(message: Message, places: dict[str, int], place: int) -> int:
    """Place of the parent. One that is not there (left out, or cut off) is bridged as the program
    does: the record before stands in for it, now and for others that name the same parent.
    """
    parent = message.metadata.get(PARENT)
    if parent is None:
        return place - 1
    if parent == ROOT:
        return -1
    above = places.get(parent)
    return places.setdefault(f"?{parent}", place - 1) if above is None else above


def _describe(record: _Record, message: Message) -> None:
    if message.kind == "user" or message.event_type in _TURNS:
        record.turn = True
    elif message.kind in ("assistant", "reasoning", "tool_call"):
        record.answer = message.metadata.get("message_id") or message.metadata["uuid"]
    if message.tool is not None:
        (record.results if message.kind == "tool_result" else record.calls).append(
            message.tool.call_id
        )


def _live(records: list[_Record]) -> set[int]:
    """The leaf and all above it. The leaf is the last turn or answer: what trails it (results,
    hooks, durations) may hang anywhere.
    """
    leaf = len(records) - 1
    while leaf > 0 and not (records[leaf].turn or records[leaf].answer):
        leaf -= 1
    live = set()
    while leaf >= 0:
        live.add(leaf)
        leaf = records[leaf].parent
    return live
