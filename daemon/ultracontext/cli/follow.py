"""`show -f`: a session as it grows. Looks at its row, and reads it anew when that has changed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ultracontext.errors import NotFoundError, StoreError

if TYPE_CHECKING:
    from ultracontext.redaction import Redactor
    from ultracontext.store.base import ContextRow, SpaceStore
    from ultracontext.store.session import Session

LOOK_SECONDS = 0.25
REST = 4.0
"""A long session is read anew so many times its reading time later at the earliest."""


def growing(space: SpaceStore, row: ContextRow, redactor: Redactor) -> Iterator[Session]:
    """The session as it stands, then again after each time it has grown. Does not end."""
    from ultracontext.store.session import read_session

    while True:
        began = time.monotonic()
        yield read_session(space, row, redactor)
        time.sleep(min(REST * (time.monotonic() - began), 30.0))
        row = _next(space, row)


def _next(space: SpaceStore, row: ContextRow) -> ContextRow:
    """The session's row once it or its facts are other than they were: records changed in place
    add no node."""
    while True:
        found = _look(space, row)
        if found != row:
            return found
        time.sleep(LOOK_SECONDS)


def _look(space: SpaceStore, row: ContextRow) -> ContextRow:
    try:
        return space.find(row.context_id)
    except NotFoundError:
        return row  # wiped: nothing more comes
    except StoreError as error:
        if error.code != "store-busy":
            raise
        return row
