"""All errors of this package.

    UltraContextError
    ├── SettingsError          a setting is unknown or malformed (exit 2)
    ├── CaptureError           a source could not be read
    ├── FormatError            an agent's record or folder breaks its format
    ├── RedactionError         masking cannot be guaranteed; the source stops
    ├── StoreError             the store refused or failed
    │   ├── StoreBusyError     another writer held it too long; try again
    │   ├── NotFoundError      no such context in this space
    │   │   ├── SourceNotFoundError    no such context to fork from
    │   │   ├── VersionNotFoundError   no such version, or none before that time
    │   │   └── MessageNotFoundError   no such message in the newest version
    │   ├── ConflictError      what was asked contradicts what is stored
    │   │   └── VersionConflictError   another version than the expected one
    │   ├── InvalidIndexError  an index that names no message
    │   ├── InvalidMessageError        a message or metadata that cannot be stored
    │   ├── InvalidCursorError         a cursor that this store did not give
    │   └── BrokenChainError   the chain of a context is not sound
    ├── WriteRefusedError      a guard said no (exit 3)
    ├── TransportError         the daemon or a server could not be reached
    └── FatalError             the daemon cannot go on

Texts say what failed and where, never payload text.
"""

from __future__ import annotations


class UltraContextError(Exception):
    """Base of all errors raised on purpose by this package."""

    code = "error"
    exit_code = 1

    def __init__(self, message: str, *, hint: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        """What the person does next, one sentence."""
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message


class SettingsError(UltraContextError):
    """A setting is unknown or has a malformed value."""

    code = "settings"
    exit_code = 2


class CaptureError(UltraContextError):
    """A source could not be read."""

    code = "capture"


class FormatError(UltraContextError):
    """A record, folder or version breaks what we know of an agent's format."""

    code = "format"


class RedactionError(UltraContextError):
    """Masking cannot be guaranteed, so nothing passes."""

    code = "redaction"


class StoreError(UltraContextError):
    """The store refused or failed."""

    code = "store"


class StoreBusyError(StoreError):
    """Another process held the store longer than the busy limit."""

    code = "store-busy"


class NotFoundError(StoreError):
    """No such context in this space."""

    code = "not-found"


class SourceNotFoundError(NotFoundError):
    """The context to fork from is not in this space."""

    code = "source-not-found"


class VersionNotFoundError(NotFoundError):
    """Code `version-not-found`, or `no-version-before` when a time lies before the first one."""

    code = "version-not-found"


class MessageNotFoundError(NotFoundError):
    """No message of that id in the newest version."""

    code = "message-not-found"

    def __init__(self, message_id: str) -> None:
        super().__init__(
            f"message not found: {message_id}", hint="Ids of older versions are not meant"
        )
        self.message_id = message_id


class ConflictError(StoreError):
    """What was asked contradicts what is stored: an id with other content or another origin
    (`conflict`), an `operation_id` used for something else, the id of a wiped context (`wiped`)."""

    code = "conflict"


class VersionConflictError(ConflictError):
    """The newest version is not the expected one."""

    code = "version-conflict"

    def __init__(self, version: int, *, expected: int) -> None:
        super().__init__(
            f"the newest version is {version}, not {expected}", hint="Read it and try again"
        )
        self.version = version


class InvalidIndexError(StoreError):
    """An index that names no message: negative where it must not be (`invalid-index`), or beyond
    the end (`index-range`)."""

    code = "invalid-index"

    def __init__(self, index: int, *, code: str = "invalid-index") -> None:
        super().__init__(f"no message at index {index}", hint="Indexes start at 0", code=code)
        self.index = index


class InvalidMessageError(StoreError):
    """A message, a change or metadata that is not what it must be, a JSON object as a rule."""

    code = "invalid-message"


class InvalidCursorError(StoreError):
    """A cursor that no page gave."""

    code = "invalid-cursor"


class BrokenChainError(StoreError):
    """The chain of a context is not sound: its rows were changed outside of this program."""

    code = "chain-broken"

    def __init__(self, context_id: str, *, position: int, reason: str) -> None:
        super().__init__(
            f"the chain of {context_id} is broken at position {position} ({reason})",
            hint="`ultracontext context verify` says more, `show --salvage` gives the sound parts",
        )
        self.context_id = context_id
        self.position = position
        self.reason = reason


class WriteRefusedError(UltraContextError):
    """A guard refused: gate, lock or confirmation."""

    code = "refused"
    exit_code = 3


class TransportError(UltraContextError):
    """The daemon's socket or a server could not be reached, or answered nonsense."""

    code = "transport"


class FatalError(UltraContextError):
    """The daemon cannot go on."""

    code = "fatal"
