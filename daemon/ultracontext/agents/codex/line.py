"""One record on its way to messages."""

from __future__ import annotations

from typing import Any

from ultracontext.model import Message, Tool
from ultracontext.model.message import Kind, Role

Dict = dict[str, Any]

ROLES: dict[Kind, Role] = {
    "user": "user",
    "assistant": "assistant",
    "reasoning": "assistant",
    "tool_call": "assistant",
    "tool_result": "tool",
    "system": "system",
    "meta": "system",
}

TWIN = "twin"
"""Metadata key of a message that only repeats another: the id of that one, or `call:` and the id
of a call. Such messages are `meta` and live between `feed` and `settle` only."""
ASSUMED = "assumed"
"""Metadata key of a prompt that nothing but its form shows to be typed; gone after `settle`."""
MARK = "ultracontext"
"""Field of the `session_meta` of a thread that a switch wrote: where it comes from."""


class Line:
    """Names and times the messages of one record."""

    __slots__ = ("count", "id", "native", "time")

    def __init__(self, message_id: str, time: str | None, native: Dict) -> None:
        self.id = message_id
        self.time = time
        self.native = native
        self.count = 0

    def next_id(self) -> str:
        """The id that the next message gets."""
        return f"{self.id}.{self.count}" if self.count else self.id

    def message(
        self,
        kind: Kind,
        event_type: str,
        text: str = "",
        tool: Tool | None = None,
        metadata: Dict | None = None,
    ) -> Message:
        name = self.next_id()
        self.count += 1
        return Message(
            id=name,
            role=ROLES[kind],
            kind=kind,
            event_type=event_type,
            text=text,
            timestamp=self.time,
            tool=tool,
            metadata=metadata if metadata is not None else {},
        )

    def twin(
        self, of: str, event_type: str, text: str = "", tool: Tool | None = None, **more: Any
    ) -> Message:
        """A repetition of the message `of`."""
        return self.message("meta", event_type, text, tool, {TWIN: of, **more})


def as_dict(value: object) -> Dict:
    """The value if it is an object, else an empty one."""
    return value if type(value) is dict else {}


def as_text(value: object) -> str:
    """The value if it is a string, else an empty one."""
    return value if type(value) is str else ""
