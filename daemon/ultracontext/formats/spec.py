"""What an agent's folder provides: where its files lie, whose records they hold, how they read.

Everything here is pure. Paths are values, never opened; records are masked before they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import msgspec

from ultracontext.formats.evidence import Compat
from ultracontext.formats.listing import Judge, Lookups
from ultracontext.formats.proof import Proof
from ultracontext.formats.tooling import Tooling
from ultracontext.formats.writing import Extras, Writer
from ultracontext.model import Base, Message, MessageId, SessionFacts
from ultracontext.redaction import MaskedRecord

if TYPE_CHECKING:
    from ultracontext.formats.gate import Permit


class Engine(StrEnum):
    """How a source is read."""

    APPEND_LOG = "append-log"
    """Lines are only appended; position = byte offset."""
    COMPRESSED_LOG = "compressed-log"
    """The same inside one zstd stream; position = offset in the decompressed bytes."""
    DOCUMENT = "document"
    """One value, rewritten in place."""
    DATABASE = "database"
    """SQLite, read by row cursor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentShape:
    """How capture cuts a whole JSON document into records, by names alone, before masking.

    The head record is the document with the list under `items` replaced by the elements' ids; each
    element of the list is a record of its own. Order: head, then the elements.
    """

    items: str
    """Key of the list: `messages`."""
    item_id: str = "id"
    """Key of an element's id; an element without one is named by its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One table of a database source, read by row cursor.

    `sql` binds `:cursor` and `:limit` and gives rows (cursor, key, value) in rising order of
    cursor, an integer. A row becomes the record `{"table": name, "key": key, "value": value}`; a
    value of bytes that is no UTF-8 becomes `{"base64": …}`.
    """

    name: str
    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFacts:
    """What a path alone says of a source. Capture masks the strings before a reader sees them."""

    engine: Engine
    role: str = "session"
    """The agent's own word: `session`, `subagent`, `names` …"""
    session_hint: str | None = None
    """Session id as the file name has it; the assigner decides whether it counts."""
    parent_hint: str | None = None
    """Session id of the parent as the folder has it."""
    extra: Mapping[str, str] = field(default_factory=dict)
    document: DocumentShape | None = None
    """For `DOCUMENT` sources of JSON; None = the whole text is one record."""
    queries: tuple[Query, ...] = ()
    """For `DATABASE` sources."""


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """Another file that a record refers to, fetched read-only inside the agent's roots."""

    name: str
    """Key in `MaskedRecord.companions`."""
    path: str
    """Absolute path as the record says, or relative to the folder of the source. Where an absolute
    path lies outside the agent's roots, capture tries its tail below the source's folder."""
    start: int = 0
    length: int | None = None
    """Bytes; None = to the end (capture has a limit of its own)."""


class Beginning(msgspec.Struct, frozen=True, kw_only=True):
    """A version of the session begins with this record: its agent went back, or made room.

    Which records it puts aside: `records`, or all from `first` on, or all behind `after`, or, where
    none is given, all. They are names as in `Assignment.record_id`, an ordinal where records have
    none; of several in `first` the one that is stored counts.
    """

    cause: Literal["rewind", "compaction"]
    records: tuple[str | int, ...] = ()
    first: tuple[str | int, ...] = ()
    after: str | int | None = None
    """One that is not stored: then no version begins."""
    unless_behind: str | int | None = None
    """No version begins where `after` is this record, or stands behind it."""


class Assignment(msgspec.Struct, frozen=True):
    """Whose record this is."""

    session_id: str | None
    """None: the record belongs to no session (yet); capture keeps it under the source's own name.
    """
    record_id: str | None = None
    """The record's own id, unique in its session; None = its ordinal in the source names it."""
    skip: str | None = None
    """A reason to leave the record out (counted under `skipped`), or None."""
    needs: tuple[Need, ...] = ()
    revision: int | None = None
    """Which content under `record_id` this is, where the source repeats ids (0 for the first); None
    = capture counts: other content of the same source is the next revision."""
    parent: str | None = None
    """Name of the record that this one follows, where records say so: it decides where a copy of
    the file went on by itself."""
    version: Beginning | None = None
    """The version of the session that begins with this record, if one does."""


class Assigner(Protocol):
    """Says of each record of one source, in order, which session it belongs to.

    Its state is part of the source's checkpoint, so it is small and JSON.
    """

    def assign(self, record: MaskedRecord) -> Assignment: ...

    def state(self) -> dict[str, Any]: ...


class SessionReader(Protocol):
    """Makes messages of the records of one session, fed in order. Holds no I/O and no clock."""

    def feed(self, record: MaskedRecord, message_id: MessageId) -> list[Message]:
        """Messages of this record. Never raises on odd input: unknown kinds become `meta`."""

    def settle(self, messages: list[Message]) -> list[Message]:
        """The final list, once all records are fed: twins removed, undone turns marked, results
        paired.

        A call's `tool.output` and `is_error` are filled from its result here."""

    def facts(self) -> SessionFacts:
        """Facts so far; `facts().messages` equals the number of settled messages but `meta`."""

    def covers(self, record: MaskedRecord, base: Base) -> bool:
        """Whether a record of the base session belongs to this session's beginning."""


@runtime_checkable
class LiveReader(Protocol):
    """A reader that knows what of a session its agent would send to the model now."""

    def live(
        self, messages: list[Message], record: Callable[[str], MaskedRecord | None]
    ) -> list[Message]:
        """Of the settled messages those that the model would get, summaries in place of what was
        compacted, in that order.

        `record` gives the record that a message was made of, for what `feed` did not keep. A reader
        without this method stands for: all but `meta`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPlace:
    """Where and when `demo` plays a recording."""

    home: PurePath
    """A home folder made for the demo; the environment names no other."""
    project: str
    """The folder that the session is about."""
    session: str
    """A fresh UUID."""
    local: datetime
    """Now, in local time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """A recording for `demo`, made by hand in the agent's own format.

    In the data `{{project}}`, `{{session}}`, `{{time}}` and `{{key}}` (a made-up secret) stand for
    what differs between runs, escaped as in a JSON string.
    """

    package: str
    """Package that `data` is a resource of: `ultracontext.agents.toy`."""
    data: str
    """Name of the JSON Lines file in it."""
    file: Callable[[DemoPlace], PurePath]
    """The file that the agent would append these lines to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """All that the other floors know of an agent."""

    slug: str
    """`claude`; also the name of the folder."""
    name: str
    """`Claude Code`."""
    roots: Callable[[Mapping[str, str], PurePath], Sequence[PurePath]]
    """(environment, home folder) → folders that may hold sessions, existing or not."""
    classify: Callable[[PurePosixPath], SourceFacts | None]
    """Path relative to a root → what the source is, None when it is no source.
    Must be cheap: it is asked for every file below the folders of `folders`."""
    folders: Sequence[str]
    """Folders below a root, relative, in which sources lie (`projects`); the sweep walks only these
    and the files that `files` names."""
    files: Sequence[str] = ()
    """Single files directly below a root that are sources (`session_index.jsonl`)."""
    assigner: Callable[[SourceFacts, Mapping[str, Any] | None], Assigner]
    """(facts, saved state or None) → assigner."""
    reader: Callable[[str], SessionReader]
    """(session id) → fresh reader."""
    relate: Callable[[Iterable[MaskedRecord], Iterable[MaskedRecord]], str | None] | None = None
    """(records of a, records of b), both sharing a lineage key → `a` if a is a fork of b, `b` if b
    is a fork of a, None if they are not related."""
    demo: Demo | None = None
    """What `demo` plays of this agent, if anything."""
    folder_of: Callable[[MaskedRecord], str | None] | None = None
    """The folder that a record says its agent worked in at that moment, None when it does not say.
    Asked for every record, so it must be cheap; without it a session's first folder counts."""
    lookups: Lookups | None = None
    """(source, its path below the root) → what `listing` wants to know of the agent's own files."""
    listing: Judge | None = None
    """Whether the agent lists a session whose source exists; without it: always."""
    packages: Sequence[str] = ()
    """Names of its npm packages."""
    installs: Sequence[str] = ()
    """Folders below the home that hold one entry a version, named by it, or a `node_modules`."""
    versions: Sequence[str] = ()
    """Versions that were run, with evidence in `compat`."""
    writer: Callable[[Permit], Writer] | None = None
    """Writes sessions for the version that the permit names; None: there is no native way."""
    compat: Compat | None = None
    """What was run."""
    extras: Callable[[MaskedRecord, Message], Extras] | None = None
    """(record, one of the messages that were made of it) → its pictures, and what proves a thought.
    Asked for prompts and results that tell of pictures, and for thoughts."""
    opening: Callable[[str], tuple[str, ...]] | None = None
    """First prompt → the command that starts the program with it, in the folder where it runs."""
    summarises: Callable[[Message], bool] | None = None
    """Whether a `system` message is the summary that a compaction left; without it: none is."""
    proof: Proof | None = None
    """How `compat prove` runs the program."""
    tooling: Tooling | None = None
    """Where it takes MCP servers and skills from; None: `mcp install` cannot tell it."""
    described: Sequence[str] = ()
    """Forms that are read as public material describes them; no program was run for them."""
