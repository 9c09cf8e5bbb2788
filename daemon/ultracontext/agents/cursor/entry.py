"""A message in short: what the readers of the stores make, and what joins them."""

from __future__ import annotations

from typing import Any

import msgspec

from ultracontext.agents.cursor.typed import squashed
from ultracontext.agents.cursor.values import identifier, rendered
from ultracontext.formats.draft import Draft
from ultracontext.model import Message, Tool

KV = "state.vscdb"
DB = "store.db"
TRANSCRIPT = "transcript"
TXT = "txt"
STORES = (KV, DB, TRANSCRIPT, TXT)
"""From the richest to the poorest; `metadata.origin` of a message."""


class Entry(msgspec.Struct, frozen=True):
    """One message: its id, store, native id, kind, and its text without white space."""

    id: str
    store: str
    native: str
    kind: str
    said: str
    time: str | None
    inline: bool = False
    """Stands in its conversation's own row; the row of the same message wins."""


def entry(message: Message, store: str, native: str, inline: bool = False) -> Entry:
    """The short form of a message. Calls and results are counted, not compared."""
    compared = message.kind in ("user", "assistant", "reasoning")
    text = squashed(message.text) if compared else ""
    return Entry(message.id, store, native, message.kind, text, message.timestamp, inline)


def add_call(draft: Draft, name: Any, call_id: Any, call: Any) -> None:
    """A tool call."""
    tool = Tool(
        name=name if type(name) is str else "", call_id=identifier(call_id) or "", input=call
    )
    draft.add("assistant", "tool_call", "tool_call", rendered(call), tool=tool)


def add_result(
    draft: Draft,
    name: Any,
    call_id: Any,
    output: Any,
    is_error: bool | None,
    *,
    text: str | None = None,
) -> None:
    """What a tool gave; `text` where it stands there as text of its own."""
    tool = Tool(
        name=name if type(name) is str else "",
        call_id=identifier(call_id) or "",
        output=output,
        is_error=is_error,
    )
    draft.add(
        "tool", "tool_result", "tool_result", rendered(output) if text is None else text, tool=tool
    )
