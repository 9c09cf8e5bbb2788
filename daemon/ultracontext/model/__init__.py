"""Values that all floors share: ids, records, messages, facts of a session."""

from ultracontext.model.ids import (
    ContextId,
    EventId,
    MessageId,
    captured_context_id,
    event_id,
    message_id,
    session_head,
)
from ultracontext.model.message import Kind, Message, Role, Tool
from ultracontext.model.record import RawRecord
from ultracontext.model.session import Base, SessionFacts

__all__ = [
    "Base",
    "ContextId",
    "EventId",
    "Kind",
    "Message",
    "MessageId",
    "RawRecord",
    "Role",
    "SessionFacts",
    "Tool",
    "captured_context_id",
    "event_id",
    "message_id",
    "session_head",
]
