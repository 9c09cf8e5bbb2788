"""Messages of one record while they are made."""

from __future__ import annotations

from typing import Any

from ultracontext.model import Kind, Message, Role, Tool


class Draft:
    """Collects the messages of one record; the first has the record's id, the next `.1`, `.2`."""

    __slots__ = ("_id", "base", "delegated", "messages", "time", "unknown")

    def __init__(
        self,
        message_id: str,
        time: str | None = None,
        base: dict[str, Any] | None = None,
        *,
        delegated: bool = False,
    ) -> None:
        self._id = message_id
        self.time = time
        self.base: dict[str, Any] = {} if base is None else base
        """Metadata of the messages that follow."""
        self.delegated = delegated
        """The session is a sub-agent's: its prompts come from its parent."""
        self.messages: list[Message] = []
        self.unknown: list[str] = []
        """Words in this record that the reader does not know."""

    def add(
        self,
        role: Role,
        kind: Kind,
        event_type: str,
        text: str,
        *,
        tool: Tool | None = None,
        extra: dict[str, Any] | None = None,
        time: str | None = None,
    ) -> None:
        """One message more, at the record's time unless it has one of its own."""
        count = len(self.messages)
        self.messages.append(
            Message(
                id=f"{self._id}.{count}" if count else self._id,
                role=role,
                kind=kind,
                event_type=event_type,
                text=text,
                timestamp=time or self.time,
                tool=tool,
                metadata={**self.base, **extra} if extra else dict(self.base),
            )
        )

    def system(self, event_type: str, text: str, extra: dict[str, Any] | None = None) -> None:
        """Something that the program said or put in; bookkeeping when it says nothing."""
        self.add("system", "system" if text.strip() else "meta", event_type, text, extra=extra)

    def meta(self, event_type: str, text: str = "", extra: dict[str, Any] | None = None) -> None:
        """Bookkeeping."""
        self.add("system", "meta", event_type, text, extra=extra)
