"""Parrot: an agent that exists in the tests only, to prove that one folder is enough.

`~/.parrot/talks/ID.jsonl`; a line is `{"id", "by": "person" | "parrot", "said", "at", "dir"}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath, PurePosixPath
from typing import Any

import msgspec

from ultracontext.formats import AgentSpec, Assignment, Engine, SourceFacts
from ultracontext.model import Base, Message, MessageId, SessionFacts
from ultracontext.redaction import MaskedRecord

TALKS = "talks"
SPEAKERS = {"person": "user", "parrot": "assistant"}


def roots(environment: Mapping[str, str], home: PurePath) -> Sequence[PurePath]:
    configured = environment.get("PARROT_HOME")
    return [type(home)(configured) if configured else home / ".parrot"]


def classify(path: PurePosixPath) -> SourceFacts | None:
    if len(path.parts) != 2 or path.parts[0] != TALKS or path.suffix != ".jsonl":
        return None
    return SourceFacts(engine=Engine.APPEND_LOG, session_hint=path.stem)


class Assigner:
    """The file names the session, the line itself the record."""

    def __init__(self, facts: SourceFacts, saved: Mapping[str, Any] | None) -> None:
        self._session = facts.session_hint

    def assign(self, record: MaskedRecord) -> Assignment:
        native = record.native if type(record.native) is dict else {}
        named = native.get("id")
        return Assignment(self._session, named if type(named) is str and named else None)

    def state(self) -> dict[str, Any]:
        return {}


class Reader:
    """One line, one message."""

    def __init__(self, session_id: str) -> None:
        self._facts = SessionFacts()

    def feed(self, record: MaskedRecord, message_id: MessageId) -> list[Message]:
        native = record.native if type(record.native) is dict else {}
        by, said = native.get("by"), native.get("said")
        if type(by) is not str or by not in SPEAKERS or type(said) is not str:
            return self._unknown(record, message_id, native)
        when = native.get("at") if type(native.get("at")) is str else None
        self._note(by, said, native)
        kind: Any = SPEAKERS[by]
        return [
            Message(
                id=message_id, role=kind, kind=kind, event_type=by, text=said, timestamp=when
            )
        ]  # fmt: skip

    def _note(self, by: str, said: str, native: Mapping[str, Any]) -> None:
        facts = self._facts
        facts.messages += 1
        if type(native.get("dir")) is str:
            facts.project_path = native["dir"]
        line = " ".join(said.split())[:200]
        if facts.title is None and by == "person" and line:
            facts.title, facts.title_source = line, "prompt"

    def _unknown(
        self, record: MaskedRecord, message_id: MessageId, native: Mapping[str, Any]
    ) -> list[Message]:
        if record.damage is None and record.too_large is None:
            kind = native.get("type")
            name = kind if type(kind) is str else "(no kind)"
            self._facts.unknown[name] = self._facts.unknown.get(name, 0) + 1
        text = record.text or ""
        return [Message(id=message_id, role="system", kind="meta", event_type="odd", text=text)]

    def settle(self, messages: list[Message]) -> list[Message]:
        return messages

    def facts(self) -> SessionFacts:
        return msgspec.structs.replace(self._facts, unknown=dict(self._facts.unknown))

    def covers(self, record: MaskedRecord, base: Base) -> bool:
        return False


SPEC = AgentSpec(
    slug="parrot",
    name="Parrot",
    roots=roots,
    classify=classify,
    folders=(TALKS,),
    assigner=Assigner,
    reader=Reader,
)
