"""What of a thread the model gets now (FORMAT.md section 7, runs of 0.45 to 0.171).

The last `compacted` record replaces everything before it: by its `replacement_history`, or, where
it has none, by the prompts so far and its summary. Turns that were rolled back are left out; what
only the screen was told (errors, runs inside a script) was never sent.
"""

from __future__ import annotations

from collections.abc import Callable

from ultracontext.agents.codex import items
from ultracontext.agents.codex.line import Line, as_dict, as_text
from ultracontext.agents.codex.settle import settled
from ultracontext.agents.codex.state import State
from ultracontext.model import Message
from ultracontext.redaction import MaskedRecord

COMPACTED = "compacted"


def live(messages: list[Message], record: Callable[[str], MaskedRecord | None]) -> list[Message]:
    """Of the settled messages those that the model would get, replacements in their place."""
    last = max((n for n, m in enumerate(messages) if m.event_type == COMPACTED), default=-1)
    after = [message for message in messages[last + 1 :] if _sent(message)]
    if last < 0:
        return after
    boundary = messages[last]
    found = record(boundary.id)
    history = as_dict(as_dict(found.native if found else None).get("payload")).get(
        "replacement_history"
    )
    if type(history) is list:
        return [*_replaced(history, boundary), *after]
    prompts = [m for m in messages[:last] if m.kind == "user" and _sent(m)]
    return [*prompts, boundary, *after]


def _replaced(history: list[object], boundary: Message) -> list[Message]:
    """The items of a replacement history as messages, under the id of its record."""
    state, line = State(""), Line(boundary.id, boundary.timestamp, {})
    line.count = 1
    made: list[Message] = []
    for item in map(as_dict, history):
        handler = items.HANDLERS.get(as_text(item.get("type")))
        if handler is not None:
            made += handler(state, line, item)
    return [message for message in settled(made) if message.kind != "meta"]


def _sent(message: Message) -> bool:
    if message.kind == "meta" or "undone" in message.metadata or "nested" in message.metadata:
        return False
    return message.kind != "system" or message.event_type.startswith("response_item/")
