"""A session of a store as a switch reads it."""

from __future__ import annotations

from ultracontext.agents import agent
from ultracontext.errors import FormatError, WriteRefusedError
from ultracontext.model import message_id
from ultracontext.redaction import Redactor
from ultracontext.store.base import ContextRow, SpaceStore
from ultracontext.store.beginning import Beginnings
from ultracontext.switch.session import MaskedSession


def stored_session(store: SpaceStore, row: ContextRow, redactor: Redactor) -> MaskedSession:
    """Masked under today's rules, its beginning in other sessions included."""
    try:
        spec = agent(row.agent)
    except FormatError as error:
        raise WriteRefusedError(
            f"{row.agent} is no agent that is known here", code="unknown-agent",
            hint="Install what knows it",
        ) from error  # fmt: skip
    records = [
        (piece.record, message_id(piece.node.event_id))
        for piece in Beginnings(store, redactor).pieces(row)
        if piece.node is not None and piece.record is not None
    ]
    session = MaskedSession.of(spec, row.session_id, records, context_id=row.context_id)
    return session.with_facts(row.facts)
