"""Contexts with history, as every store offers them: the interface, and the shapes that cross it.

A context is a root, a chain of heads (versions), and messages. Nothing is rewritten: an edit, a
removal, a checkpoint or a change of metadata appends a head. A version grows by appends until the
next head. What an agent's session was captured into and what a program made are one structure; a
captured node reads as one message of the wire.

Every call is bound to one space. A write is one transaction; after any error nothing of it is
stored. Raises NotFoundError for a context that is not in this space (or was wiped), and the errors
named at each call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

import msgspec

from ultracontext.model import ContextId, EventId, MessageId
from ultracontext.redaction import Redactor

Json = Any
"""Any JSON value, as `json.loads` gives it: integers of any size, lone surrogates, key order."""

Operation = Literal["create", "update", "delete"]


class Fork(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """Where a context begins: `version`, then `before`, then `at` choose messages of the source."""

    source: ContextId
    version: int | None = None
    before: datetime | None = None
    """Milliseconds count, finer digits do not. Alone: the newest version made at or before it, and
    of it the messages up to the last one written at or before it."""
    at: int | None = None
    """Index of the last message that is taken, from 0."""


class ContextInfo(msgspec.Struct, kw_only=True):
    """One context as lists show it."""

    context_id: ContextId
    metadata: Json
    """As given; of a captured session what is known of it (`source`, `session_id`, `host`,
    `project_path`, `title` …) with what was set by hand over it."""
    created_at: datetime
    updated_at: datetime
    """Of the last write."""
    version: int
    messages: int
    """In the newest version."""
    origin: Fork | None = None
    """What it was forked from; `version` is always filled, the context may be wiped since."""
    origin_wiped: bool = False
    agent: str | None = None
    session_id: str | None = None


class Created(msgspec.Struct, kw_only=True):
    context_id: ContextId
    metadata: Json
    created_at: datetime
    duplicate: bool = False
    """It was there already, made by the same call; nothing was stored."""


class NewMessage(msgspec.Struct, kw_only=True):
    """A message to append."""

    content: bytes
    """JSON text of an object in UTF-8, kept byte for byte (`metadata`, `id` and `index` taken
    out: the caller's duty). Lone surrogates stand in it as `\\udXXX`."""
    metadata: Json = msgspec.field(default_factory=dict)
    message_id: MessageId | None = None
    """Made by the writer; None = the store makes one. The same id with the same content again is a
    duplicate, with other content a ConflictError."""
    event_id: str | None = None
    """A name of the writer's; met again in this context, the message is a duplicate whatever its
    content. Of a captured node: its event id in hex."""
    rule_set: int | None = None
    """Rules under which the message is masked already; None = stored as given."""


class StoredMessage(msgspec.Struct, kw_only=True):
    """A message of one version."""

    message_id: MessageId
    index: int
    """Place in the version, from 0."""
    content: bytes
    """JSON text of an object, without `id`, `index`, `metadata`."""
    metadata: Json
    created_at: datetime
    """Of a captured message its own time (else the one before it); edits and forks keep it."""
    stored_at: datetime | None = None
    """When this store got it."""
    parent_id: MessageId | None = None
    """The message that it replaced, or of which it is the copy."""
    rule_set: int | None = None
    event_id: EventId | None = None
    """Of a captured record."""


class AppendedMessage(msgspec.Struct, kw_only=True):
    message: StoredMessage
    """The stored one: of a duplicate what stands there, its index that of the newest version (-1
    when it was edited or removed since)."""
    duplicate: bool = False


class Appended(msgspec.Struct, kw_only=True):
    version: int
    messages: list[AppendedMessage]
    """In the order given."""


class Update(msgspec.Struct, kw_only=True):
    """A change of one message, by `message_id` or `index` (one of them; negative counts from the
    end). Keys of `content` that are not named stay; nothing is removed silently."""

    message_id: MessageId | None = None
    index: int | None = None
    changes: bytes = b"{}"
    """JSON text of an object; its members replace those of the same name, `null` included."""
    remove_keys: Sequence[str] = ()
    metadata: Json = msgspec.UNSET
    """JSON object, members merged into the message's metadata."""
    remove_metadata_keys: Sequence[str] = ()


class Edited(msgspec.Struct, kw_only=True):
    """A version made by `edit`, `remove`, `checkpoint` or `set_metadata`."""

    version: int
    affected: list[MessageId]
    """Ids that the messages had in the version before, in the order asked, repeats kept."""
    duplicate: bool = False
    """This `operation_id` was done already; `version` and `affected` are what it made."""


class VersionInfo(msgspec.Struct, kw_only=True):
    version: int
    version_id: str
    """`ver_` + 24 hex."""
    created_at: datetime
    operation: Operation
    affected: list[MessageId] | None
    """None for `create`."""
    metadata: Json = None
    """Given with the edit; None where there was none."""
    operation_id: str | None = None
    context_metadata: Json = msgspec.UNSET
    """The context's whole metadata, where this version changed it."""
    repair: bool = False
    """It closed a gap in the chain."""


class Gap(msgspec.Struct, kw_only=True, frozen=True):
    """Places of a context whose chain is not sound."""

    first: int
    """Position, from 0."""
    last: int
    reason: str
    """`missing`, `content`, `order`, `extra`, `version`, `head` or `seal`."""
    version: int | None = None


class Reading(msgspec.Struct, kw_only=True):
    """What `read` found."""

    context_id: ContextId
    version: int
    total: int
    """Messages of the version after `before` and `at`, before `first` and `last`."""
    metadata: Json
    """The context's, as of the version."""
    messages: Iterator[StoredMessage]
    """In order, read page by page as they are taken, from the state at the time of the call; each
    page checked against the chain. Raises BrokenChainError where it is not sound, without
    `salvage`; NotFoundError when the context was wiped meanwhile."""
    versions: list[VersionInfo] | None = None
    """With `history`, oldest first."""
    gaps: list[Gap] = msgspec.field(default_factory=list)
    """With `salvage`: filled while `messages` is taken."""


class ContextPage(msgspec.Struct, kw_only=True):
    contexts: list[ContextInfo]
    next_cursor: str | None = None
    """For the next page; None at the end."""


class Difference(msgspec.Struct, kw_only=True):
    """From version `a` to `b`; indexes are those of the version that the message stands in."""

    a: int
    b: int
    added: list[StoredMessage]
    removed: list[StoredMessage]
    changed: list[tuple[StoredMessage, StoredMessage]]
    """(in `a`, in `b`)."""
    metadata: tuple[Json, Json] | None = None
    """The context's, where it differs."""


class Verification(msgspec.Struct, kw_only=True):
    context_id: ContextId
    sound: bool
    versions: int
    rows: int
    """Rows looked at, those of older versions included."""
    first_break: Gap | None = None
    message_id: MessageId | None = None
    """At the first break."""
    repaired: list[Gap] = msgspec.field(default_factory=list)
    """Gaps that a repair closed."""


class Tombstone(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What stays of a wiped context: no text of it."""

    context_id: ContextId
    wiped_at: datetime
    reason: str
    """`wipe`, `forget`, `prune` …"""
    agent: str | None = None
    session_id: str | None = None
    """Of a captured session: capture obeys the tombstone."""
    origin: ContextId | None = None
    metadata: Json = None
    """Given with the wipe."""
    versions: int = 0
    messages: int = 0
    lifted_at: datetime | None = None
    """Since then capture may take the session again."""


class Wiped(msgspec.Struct, kw_only=True):
    context_id: ContextId
    contexts: list[ContextId]
    """All that are gone: the context first, then its forks."""
    kept_forks: list[ContextInfo]
    """Forks that still hold some of the text."""


class LogEntry(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One line of `context log`, oldest first: a version, or the wipe that ended it all."""

    operation: Literal["create", "fork", "update", "delete", "metadata", "repair", "wipe"]
    at: datetime
    version: int | None = None
    version_id: str | None = None
    affected: int = 0
    messages: int | None = None
    """In the version when the next one began, or now."""
    operation_id: str | None = None
    metadata: Json = None
    origin: ContextId | None = None


class ContextStore(Protocol):
    """The part of a `SpaceStore` that keeps contexts."""

    def create(
        self,
        context_id: ContextId | None = None,
        *,
        origin: Fork | None = None,
        metadata: Json = msgspec.UNSET,
        operation_id: str | None = None,
        now: datetime,
    ) -> Created:
        """A new context, empty or a fork; without an id the store makes one.

        The source is looked up in this space: SourceNotFoundError, VersionNotFoundError,
        InvalidIndexError (`at` < 0, or no such message), BrokenChainError. An id that is there with
        the same origin is a duplicate, with another a ConflictError; so is the id of a wiped
        context (code `wiped`). `operation_id` does the same for a fork without an id: the source
        remembers it."""

    def append_messages(
        self,
        context_id: ContextId,
        messages: Sequence[NewMessage],
        *,
        expected_version: int | None = None,
        operation_id: str | None = None,
        now: datetime,
    ) -> Appended:
        """Puts messages at the end of the newest version; makes no version.

        Raises VersionConflictError, ConflictError, InvalidMessageError (not a JSON object)."""

    def read(
        self,
        context_id: ContextId,
        *,
        version: int | None = None,
        before: datetime | None = None,
        at: int | None = None,
        first: int | None = None,
        last: int | None = None,
        history: bool = False,
        salvage: bool = False,
        redactor: Redactor | None = None,
    ) -> Reading:
        """`version`, then `before`, then `at` (inclusive) choose the messages. Of these `first` is
        the index to start at, `last` how many from the end are wanted; both: what is common to
        both. A window reads nothing of the rest. A captured record's text is computed by its
        agent's reader, which needs the `redactor`; without one `message` is null.

        Raises VersionNotFoundError (code `no-version-before` for `before`), InvalidIndexError (code
        `invalid-index` for a negative `at`, `index-range` for one beyond the end)."""

    def edit(
        self,
        context_id: ContextId,
        updates: Sequence[Update],
        *,
        metadata: Json = None,
        expected_version: int | None = None,
        operation_id: str | None = None,
        redactor: Redactor | None = None,
        now: datetime,
    ) -> Edited:
        """Changes messages of the newest version; all indexes are those of it. Of two changes of
        one message the last one wins whole. None at all is a checkpoint.

        Raises MessageNotFoundError, InvalidIndexError (code `index-range`), VersionConflictError,
        InvalidMessageError, ConflictError (the `operation_id` was used for something else)."""

    def remove(
        self,
        context_id: ContextId,
        which: Sequence[MessageId | int],
        *,
        metadata: Json = None,
        expected_version: int | None = None,
        operation_id: str | None = None,
        now: datetime,
    ) -> Edited:
        """Takes messages out of the newest version, by id or index. Raises as `edit` does."""

    def checkpoint(
        self,
        context_id: ContextId,
        *,
        metadata: Json = None,
        expected_version: int | None = None,
        operation_id: str | None = None,
        now: datetime,
    ) -> Edited:
        """Seals the newest version: what is appended from here on is in the next. `edit` of
        nothing."""

    def set_metadata(
        self,
        context_id: ContextId,
        changes: Mapping[str, Json],
        *,
        remove_keys: Sequence[str] = (),
        expected_version: int | None = None,
        operation_id: str | None = None,
        now: datetime,
    ) -> Edited:
        """Merges into the context's metadata, by a version of its own; `None` is stored as null.

        Raises InvalidMessageError when the metadata is no object, VersionConflictError."""

    def list_contexts(
        self,
        *,
        filters: Mapping[str, str] | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> ContextPage:
        """Newest `created_at` first, ties by id. `filters`: top-level keys of the metadata that are
        exactly that text (numbers and booleans as JSON writes them). `after` and `before` are
        strict. Raises InvalidCursorError."""

    def context(self, context_id: ContextId) -> ContextInfo: ...
    def versions(self, context_id: ContextId) -> list[VersionInfo]:
        """Oldest first."""

    def diff(
        self, context_id: ContextId, a: int, b: int, *, redactor: Redactor | None = None
    ) -> Difference:
        """Reads only what differs. Raises VersionNotFoundError."""

    def verify(self, context_id: ContextId) -> Verification:
        """Goes through the whole chain, all versions, in bounded memory."""

    def repair(self, context_id: ContextId, *, now: datetime) -> Verification:
        """Closes the gaps that `verify` finds by a marked version that leaves the unsound rows out;
        they stay in the older versions, which only `salvage` reads."""

    def forks(self, context_id: ContextId) -> list[ContextInfo]:
        """Contexts made from it, also by way of other forks, oldest first."""

    def wipe(
        self,
        context_id: ContextId,
        *,
        forks: bool = False,
        reason: str = "wipe",
        metadata: Json = None,
        now: datetime,
    ) -> Wiped:
        """Deletes a context, all versions, for good; a tombstone stays. Forks get the bodies that
        they share, or go too."""

    def scrub(self) -> bool:
        """Leaves no byte of what was wiped in any file of the store; False while a reader of an
        older state is in the way (try again)."""

    def tombstone(self, context_id: ContextId) -> Tombstone | None: ...
    def tombstones(self) -> list[Tombstone]:
        """Oldest first."""

    def bury(self, tombstone: Tombstone) -> None:
        """Puts a tombstone without a wipe: of an import, or for a session that is not captured
        yet."""

    def lift(self, context_id: ContextId, *, now: datetime) -> bool:
        """`capture again`: capture may take the session again; False where there is no
        tombstone."""

    def log(self, context_id: ContextId) -> list[LogEntry]:
        """Versions oldest first, and wipes; of a wiped context its tombstone alone."""
