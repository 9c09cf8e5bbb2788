"""Texts that stand in a rollout more than once.

Codex writes each prompt, answer and thought twice: as an item for the model and as an event for
the screen, in the one or the other style (FORMAT.md section 2). A user's item comes before its
event, an answer's after it, right beside each other. Files made by other programs may hold one of
the two only, or all items first and all events after.
"""

from __future__ import annotations

ITEM = 1
"""`response_item`."""
LEGACY = 2
"""`event_msg/user_message`, `agent_message`, `agent_reasoning`."""
PAGED = 4
"""`event_msg/item_completed`, 0.171."""

OPEN_LIMIT = 4096
"""Texts that wait for their twin; the oldest are forgotten."""
SAME_LIMIT = 64
"""Waiting occurrences of one text."""
LOOK_BACK = 8
"""How many of them are looked at."""


class Group:
    """The occurrences of one text that were met so far."""

    __slots__ = ("channels", "first", "ident", "key", "typed", "who")

    def __init__(self, who: str, key: int, ident: str, first: str, typed: bool) -> None:
        self.who = who
        self.key = key
        self.ident = ident
        self.first = first
        """Id of the message that shows the text."""
        self.typed = typed
        self.channels = 0

    def awaits(self, channel: int) -> bool:
        """Whether an occurrence in this channel is the twin, wherever it stands."""
        if channel == ITEM:
            return not self.channels & ITEM
        return self.channels == ITEM


class Twins:
    """Tells for each text whether it was met before in another channel."""

    __slots__ = ("_by_id", "_by_text", "_last")

    def __init__(self) -> None:
        self._by_text: dict[int, list[Group]] = {}
        self._by_id: dict[str, Group] = {}
        self._last: Group | None = None

    def meet(
        self, who: str, channel: int, text: str, first: str, ident: object = "", typed: bool = True
    ) -> str | None:
        """Id of the message that this text repeats, or None: then it is new, shown by `first`.

        `ident` is the item's own id, equal in both channels of 0.171. Of texts that differ, an item
        right after an answer's event and an event right after a typed item are twins too (citations
        cut out, other masks). `typed` is false for texts that look injected.
        """
        key = hash((who, text.strip()))
        name = ident if type(ident) is str else ""
        group = self._waiting(key, name, channel) or self._beside(who, key, channel)
        if group is None:
            group = Group(who, key, name, first, typed)
            self._wait(group)
            group.channels = channel
            self._last = group
            return None
        self._join(group, channel)
        return group.first

    def repeats(self, who: str, channel: int, texts: list[str]) -> str | None:
        """As `meet` for the parts of one message if every part was met; else nothing happens."""
        groups: list[Group] = []
        for text in texts:
            group = self._waiting(hash((who, text.strip())), "", channel)
            if group is None or group in groups:
                return None
            groups.append(group)
        for group in groups:
            self._join(group, channel)
        return groups[0].first if groups else None

    def pause(self) -> None:
        """Something else happened: the next text stands beside none."""
        self._last = None

    def _waiting(self, key: int, ident: str, channel: int) -> Group | None:
        if ident:
            named = self._by_id.get(ident)
            if named is not None and named.awaits(channel):
                return named
        for group in reversed(self._by_text.get(key, ())[-LOOK_BACK:]):
            if group.awaits(channel):
                return group
        return None

    def _beside(self, who: str, key: int, channel: int) -> Group | None:
        last = self._last
        if last is None or last.who != who or last.channels & channel:
            return None
        if last.key == key:
            return last
        if who == "user" and channel != ITEM and last.channels == ITEM and last.typed:
            return last
        if who == "assistant" and channel == ITEM:
            return last
        return None

    def _wait(self, group: Group) -> None:
        same = self._by_text.setdefault(group.key, [])
        same.append(group)
        if len(same) > SAME_LIMIT:
            del same[0]
        if len(self._by_text) > OPEN_LIMIT:
            del self._by_text[next(iter(self._by_text))]
        if group.ident:
            self._by_id[group.ident] = group
            if len(self._by_id) > OPEN_LIMIT:
                del self._by_id[next(iter(self._by_id))]

    def _join(self, group: Group, channel: int) -> None:
        group.channels |= channel
        self._last = group
        if not group.channels & ITEM or group.channels == ITEM:
            return
        same = self._by_text.get(group.key)
        if same is not None and group in same:
            same.remove(group)
            if not same:
                del self._by_text[group.key]
        if self._by_id.get(group.ident) is group:
            del self._by_id[group.ident]
