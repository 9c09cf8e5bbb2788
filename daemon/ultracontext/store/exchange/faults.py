"""Errors of a store as answers: status and text that clients of the original match."""

from __future__ import annotations

from collections.abc import Callable

from ultracontext import errors
from ultracontext.errors import UltraContextError
from ultracontext.wire import faults
from ultracontext.wire.faults import RequestError, bad, missing

Texts = Callable[[errors.InvalidIndexError], RequestError]


def of_reading(error: errors.InvalidIndexError) -> RequestError:
    """Of GET: an index beyond the end is a 404 there (API 0.7.2)."""
    beyond = error.code == "index-range"
    return missing(faults.OUT_OF_RANGE) if beyond else bad(faults.BAD_INDEX)


def of_forking(_error: errors.InvalidIndexError) -> RequestError:
    return bad(faults.BAD_INDEX)


def of_editing(error: errors.InvalidIndexError) -> RequestError:
    return bad(f"{faults.OUT_OF_RANGE}: {error.index}")


def request_error(error: UltraContextError, index: Texts = of_editing) -> RequestError:
    """The answer to a request that ended in `error`."""
    match error:
        case RequestError():
            return error
        case errors.NotFoundError():
            return _missing(error)
        case errors.ConflictError():
            return _conflict(error)
        case errors.InvalidIndexError():
            return index(error)
        case errors.InvalidMessageError():
            return bad(error.message)
        case errors.InvalidCursorError():
            return bad("Invalid cursor")
        case errors.BrokenChainError():
            where = {"position": error.position, "reason": error.reason}
            return RequestError(409, "The chain of this context is broken", **where)
        case _:
            return _failure(error)


def _conflict(error: errors.ConflictError) -> RequestError:
    if isinstance(error, errors.VersionConflictError):
        return RequestError(409, "Version conflict", version=error.version)
    return RequestError(409, "Context was deleted" if error.code == "wiped" else error.message)


def _failure(error: UltraContextError) -> RequestError:
    if isinstance(error, errors.RedactionError):
        return RequestError(422, "What was sent could not be masked; nothing was stored")
    busy = isinstance(error, errors.StoreBusyError)
    return RequestError(503, "The store is busy" if busy else "The store is not available")


def _missing(error: errors.NotFoundError) -> RequestError:
    match error:
        case errors.SourceNotFoundError():
            return missing(faults.NO_SOURCE)
        case errors.VersionNotFoundError():
            before = error.code == "no-version-before"
            return missing(faults.NO_VERSION_BEFORE if before else faults.NO_VERSION)
        case errors.MessageNotFoundError():
            return missing(f"Message not found: {error.message_id}")
        case _:
            return missing(faults.NO_CONTEXT)
