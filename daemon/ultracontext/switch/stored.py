"""A session of a store as a switch reads it."""

from __future__ import annotations

from ultracontext.agents import agent
from ultracontext.errors import FormatError, VersionNotFoundError, WriteRefusedError
from ultracontext.model import message_id
from ultracontext.redaction import Redactor
from ultracontext.store.base import ContextRow, SpaceStore
from ultracontext.store.beginning import Beginnings
from ultracontext.switch.session import MaskedSession


def stored_session(
    store: SpaceStore, row: ContextRow, redactor: Redactor, *, version: int | None = None
) -> MaskedSession:
    """Masked under today's rules, its beginning in other sessions included; with `version` as it
    was when that version ended. Raises VersionNotFoundError."""
    if version is not None and not 0 <= version <= row.version:
        raise VersionNotFoundError(
            f"no version {version} of {row.context_id}", hint=f"There are 0 to {row.version}"
        )
    try:
        spec = agent(row.agent)
    except FormatError as error:
        raise WriteRefusedError(
            f"{row.agent} is no agent that is known here", code="unknown-agent",
            hint="Install what knows it",
        ) from error  # fmt: skip
    records = [
        (piece.record, message_id(piece.node.event_id))
        for piece in Beginnings(store, redactor).pieces(row, version=version)
        if piece.node is not None and piece.record is not None
    ]
    session = MaskedSession.of(spec, row.session_id, records, context_id=row.context_id)
    return session.with_facts(row.facts)
