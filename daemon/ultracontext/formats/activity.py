"""What a session is doing, as far as its records prove it. Pure; times are aware UTC.

Readers mark the record with which their agent ends its turn by `metadata[TURN] = ENDED`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Literal

import msgspec

from ultracontext.model import Message

TURN = "turn"
ENDED = "ended"

State = Literal["running", "turn", "idle", "ended"]
"""`running`: a tool call is open, or the agent was asked and has not ended its turn; `turn`: it
waits for the person; `idle`: nothing came for `IDLE_AFTER`; `ended`: its file is gone, or nothing
came for `ENDED_AFTER`."""

IDLE_AFTER = timedelta(minutes=30)
ENDED_AFTER = timedelta(days=1)
ASKS_AFTER = timedelta(seconds=60)
"""An open call older than this may as well wait for a permission: the records do not tell."""

_WORDS = 400
_BRIEF = 200
_MOST_OPEN = 64


class OpenCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call without a result."""

    name: str
    brief: str
    """Its input on one line, at most 200 characters."""
    since: datetime | None


class Activity:
    """Follows one session's messages, in order, and says what it is doing."""

    __slots__ = ("_answered", "_ended", "_marks", "_open", "_prompted", "at", "last_role", "words")

    def __init__(self) -> None:
        self._open: dict[str, OpenCall] = {}
        self._prompted = False
        self._ended = False
        self._marks = False
        self._answered = False
        self.at: datetime | None = None
        """Time of the newest message that is no bookkeeping."""
        self.words: str = ""
        """The last thing said, by either side: one line, at most 400 characters."""
        self.last_role: Literal["user", "assistant", ""] = ""

    def see(self, messages: Iterable[Message]) -> None:
        """Takes new messages in, as `SessionReader.feed` gives them."""
        for message in messages:
            self._see(message)

    @property
    def open_call(self) -> OpenCall | None:
        """The newest open call."""
        return next(reversed(self._open.values())) if self._open else None

    @property
    def open_calls(self) -> int:
        return len(self._open)

    def state(self, now: datetime, *, gone: bool = False) -> State:
        """`gone`: the agent's own file is no longer there."""
        quiet = now - self.at if self.at is not None else ENDED_AFTER
        if gone or quiet >= ENDED_AFTER:
            return "ended"
        if quiet >= IDLE_AFTER:
            return "idle"
        if self._open:
            return "running"
        if self._ended or (self._answered and not self._marks):
            return "turn"
        return "running" if self._prompted else "idle"

    def _see(self, message: Message) -> None:
        if message.kind == "user":
            self._open.clear()
            self._prompted, self._ended, self._answered = True, False, False
            self._say("user", message.text)
        elif message.kind == "tool_call":
            self._call(message)
        elif message.kind == "tool_result":
            self._open.pop(message.tool.call_id if message.tool else "", None)
            self._prompted, self._ended, self._answered = True, False, False
        elif message.kind == "assistant":
            self._answered = True
            self._say("assistant", message.text)
        if message.metadata.get(TURN) == ENDED:
            self._marks, self._ended = True, True
            self._open.clear()
        elif message.kind in ("reasoning", "assistant"):
            self._ended = False
            self._prompted = True
        if message.kind != "meta" or message.metadata.get(TURN) == ENDED:
            self.at = _moment(message.timestamp) or self.at

    def _call(self, message: Message) -> None:
        self._prompted, self._ended, self._answered = True, False, False
        tool = message.tool
        if tool is None or tool.output is not None:
            return
        brief = " ".join(message.text.split())[:_BRIEF]
        if len(self._open) < _MOST_OPEN:
            self._open[tool.call_id] = OpenCall(
                name=tool.name, brief=brief, since=_moment(message.timestamp)
            )

    def _say(self, role: Literal["user", "assistant"], text: str) -> None:
        said = " ".join(text[-4 * _WORDS :].split()) if role == "assistant" else ""
        said = said or " ".join(text[: 4 * _WORDS].split())
        if said:
            self.last_role, self.words = (
                role,
                said[-_WORDS:] if role == "assistant" else said[:_WORDS],
            )


def _moment(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
