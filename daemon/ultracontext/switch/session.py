"""A session as a switch reads it, from a file or from the store: masked records, and what its
agent's reader makes of them.

Nothing but masked records goes in, so nothing unmasked comes out, unless a person asked for the
unmasked ones (`redaction.unmasked`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import msgspec

from ultracontext.formats import AgentSpec, Extras, LiveReader, SessionReader
from ultracontext.model import (
    ContextId,
    Message,
    MessageId,
    SessionFacts,
    captured_context_id,
)
from ultracontext.redaction import MaskedRecord, require_masked
from ultracontext.switch.notes import ours

Fed = tuple[MaskedRecord, MessageId]
LEFT = ("undone", "nested")
"""Metadata of what was taken back, or only shown."""


@dataclass(frozen=True)
class MaskedSession:
    """One session. `path` is the file that it was read from, None for one of the store."""

    spec: AgentSpec
    session_id: str
    context_id: ContextId
    records: tuple[Fed, ...]
    path: str | None = None
    masked: bool = True

    @classmethod
    def of(
        cls,
        spec: AgentSpec,
        session_id: str,
        records: Iterable[Fed],
        *,
        path: str | None = None,
        context_id: ContextId | None = None,
        masked: bool = True,
    ) -> MaskedSession:
        """Raises TypeError for what is no masked record."""
        kept = tuple((require_masked(record), name) for record, name in records)
        known = context_id or captured_context_id(spec.slug, session_id)
        return cls(spec, session_id, known, kept, path, masked)

    @cached_property
    def _read(self) -> tuple[SessionReader, list[Message], SessionFacts]:
        reader = self.spec.reader(self.session_id.partition("~")[0])
        fed: list[Message] = []
        for record, name in self.records:
            with suppress(Exception):  # a reader's bug at one record must not end the switch
                fed += reader.feed(record, name)
        facts = reader.facts()
        return reader, reader.settle(fed), facts

    @property
    def facts(self) -> SessionFacts:
        return self._read[2]

    @property
    def messages(self) -> list[Message]:
        """All settled messages."""
        return self._read[1]

    @cached_property
    def whole(self) -> list[Message]:
        """All that was said and not taken back, summaries left out: they repeat it."""
        return [
            m
            for m in self.messages
            if m.kind != "meta" and _kept(m) and not self.summarises(m) and not _note(m)
        ]

    @cached_property
    def live(self) -> list[Message]:
        """What the model would get now, summaries in place of what was compacted."""
        reader, messages, _ = self._read
        found = messages
        if isinstance(reader, LiveReader):
            with suppress(Exception):
                found = reader.live(messages, self.record)
        return [m for m in found if m.kind != "meta" and _kept(m) and not _note(m)]

    def record(self, name: str) -> MaskedRecord | None:
        """The record that a message was made of."""
        return self._by_name.get(name.partition(".")[0])

    @cached_property
    def _by_name(self) -> dict[str, MaskedRecord]:
        return {name: record for record, name in self.records}

    def extras(self, message: Message) -> Extras:
        """Pictures and proofs of a message, none where its agent cannot tell."""
        record = self.record(message.id)
        if self.spec.extras is None or record is None:
            return Extras()
        try:
            return self.spec.extras(record, message)
        except Exception:  # noqa: BLE001  (odd content costs its pictures, not the switch)
            return Extras()

    def summarises(self, message: Message) -> bool:
        """Whether a message stands for what was compacted."""
        judge = self.spec.summarises
        return judge is not None and message.kind == "system" and judge(message)

    @cached_property
    def newest_turn(self) -> str | None:
        """Time of the last thing typed or answered, ISO 8601."""
        said = (m.timestamp for m in reversed(self.messages) if m.kind in ("user", "assistant"))
        return next((time for time in said if time), self.facts.updated_at)

    @cached_property
    def title(self) -> str:
        return self.facts.title or self.session_id

    def with_facts(self, facts: SessionFacts) -> MaskedSession:
        """The same with what the store knows better."""
        copy = MaskedSession(
            self.spec, self.session_id, self.context_id, self.records, self.path, self.masked
        )
        reader, messages, own = self._read
        merged = msgspec.structs.replace(
            own,
            project_path=own.project_path or facts.project_path,
            git_remote=own.git_remote or facts.git_remote,
            title=own.title or facts.title,
        )
        copy.__dict__["_read"] = (reader, messages, merged)
        return copy


def _note(message: Message) -> bool:
    """What an earlier switch said itself. In place of a result it is one."""
    return message.kind == "user" and ours(message.text)


def merged(parts: Sequence[MaskedSession]) -> MaskedSession:
    """One session that lies in several sources, newest first: their records, each once."""
    newest = parts[0]
    if len(parts) == 1:
        return newest
    known: dict[str, Fed] = {}
    for part in reversed(parts):
        for one in part.records:
            known.setdefault(one[1], one)
    return MaskedSession.of(
        newest.spec, newest.session_id, known.values(), path=newest.path,
        context_id=newest.context_id, masked=newest.masked,
    )  # fmt: skip


def by_session(parts: Iterable[MaskedSession]) -> list[MaskedSession]:
    """Parts of the same session put together, in the order in which they are met."""
    found: dict[tuple[str, str], list[MaskedSession]] = {}
    for part in parts:
        found.setdefault((part.spec.slug, part.session_id), []).append(part)
    return [merged(one) for one in found.values()]


def _kept(message: Message) -> bool:
    if message.metadata.get("branch") == "abandoned":
        return False
    return not any(mark in message.metadata for mark in LEFT)
