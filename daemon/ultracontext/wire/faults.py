"""Faults of a request, with the texts that clients of the original match."""

from __future__ import annotations

from typing import Any

from ultracontext.errors import UltraContextError

INVALID_JSON = "Invalid JSON body"
NOT_AN_OBJECT = "Request body must be a JSON object"
NOT_OBJECT_OR_ARRAY = "Request body must be a JSON object or array"
NO_CONTEXT = "Context not found"
NO_SOURCE = "Source context not found"
NO_VERSION = "Version not found"
NO_VERSION_BEFORE = "No version found before timestamp"
BAD_TIME = "Invalid timestamp format"
BAD_INDEX = "Invalid index"
OUT_OF_RANGE = "Index out of range"
NEEDS_FROM = "version, at, and before require from"
METADATA = "metadata must be an object"
WIPE_WORDS = (
    'Body must contain "ids" (delete messages) or {"permanent": true} (delete entire context)'
)
COMBINED = 'Cannot combine "permanent" and "ids" in the same request — pick one'


class RequestError(UltraContextError):
    """A request that is answered with `status` and `{"error": …}`, and `extra` beside it."""

    code = "request"

    def __init__(self, status: int, text: str, **extra: Any) -> None:
        super().__init__(text)
        self.status = status
        self.extra = extra

    def body(self) -> dict[str, Any]:
        return {"error": self.message, **self.extra}


def bad(text: str) -> RequestError:
    return RequestError(400, text)


def missing(text: str) -> RequestError:
    return RequestError(404, text)
