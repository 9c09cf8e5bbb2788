"""What `show`, search and MCP give: the messages that a reader makes of records."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Kind = Literal["user", "assistant", "reasoning", "tool_call", "tool_result", "system", "meta"]
"""`user` is typed by a person; `system` is context injected by the program, summaries,
errors; `meta` is bookkeeping that a person need not see."""

Role = Literal["user", "assistant", "system", "tool"]


class Tool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool call, its result, or (in a call) both."""

    name: str = ""
    call_id: str = ""
    input: Any = None
    output: Any = None
    is_error: bool | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message. A node gives 0 to n of them.

    `text` is what a person reads: typed text, answer, thinking, the rendered call or output.
    """

    id: str
    role: Role
    kind: Kind
    event_type: str
    """The record's own type, in the agent's words: `assistant`, `response_item/function_call`."""
    text: str
    timestamp: str | None = None
    """ISO 8601, UTC, ends in `Z`."""
    tool: Tool | None = None
    metadata: dict[str, Any] = {}
