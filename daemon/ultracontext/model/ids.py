"""Names of records, contexts and messages.

All are computed, none is drawn: the same record has the same names on every machine.
They hold no byte of a payload.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b, sha256
from typing import NewType

EventId = NewType("EventId", bytes)
"""16 bytes: hash of a record key and a revision. The first 4 are those of the session, so that the
events of one session lie side by side in an index however large the store is."""

ContextId = NewType("ContextId", str)
"""`ctx_` + 24 lowercase hex."""

MessageId = NewType("MessageId", str)
"""`msg_` + 24 lowercase hex; further messages of one node end in `.1`, `.2`."""


def event_id(agent: str, session_id: str, record: str | int, revision: int = 0) -> EventId:
    """The id of one record's content.

    `record` is the record's own id, or, where it has none, the ordinal of the complete
    record in its session. `revision` counts the contents seen under one key.
    """
    name = f"#{record}" if isinstance(record, int) else f"={record}"
    key = f"{agent}\0{session_id}\0{name}\0{revision}".encode("utf-8", "surrogatepass")
    return EventId(session_head(agent, session_id) + blake2b(key, digest_size=12).digest())


@lru_cache(maxsize=1024)
def session_head(agent: str, session_id: str) -> bytes:
    """The 4 bytes with which all event ids of a session begin, and maybe those of another."""
    key = f"{agent}\0{session_id}".encode("utf-8", "surrogatepass")
    return blake2b(key, digest_size=4).digest()


def captured_context_id(agent: str, session_id: str) -> ContextId:
    """The id of the context that holds an agent's session, equal on every machine."""
    digest = sha256(f"{agent}\0{session_id}".encode("utf-8", "surrogatepass"))
    return ContextId("ctx_" + digest.hexdigest()[:24])


def message_id(event: EventId) -> MessageId:
    """The message id of a captured node: the first 12 bytes of its event id."""
    return MessageId("msg_" + event[:12].hex())
