"""All errors of this package.

    UltraContextError
    ├── SettingsError          a setting is unknown or malformed (exit 2)
    ├── CaptureError           a source could not be read
    ├── FormatError            an agent's record or folder breaks its format
    ├── RedactionError         masking cannot be guaranteed; the source stops
    ├── StoreError             the store refused or failed
    │   ├── StoreBusyError     another writer held it too long; try again
    │   └── NotFoundError      no such context in this space
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
