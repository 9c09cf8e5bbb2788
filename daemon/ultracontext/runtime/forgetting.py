"""What is beside the local store and holds text of it: the search index, the ledger, handoffs."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ultracontext.errors import StoreError, TransportError
from ultracontext.paths import Paths
from ultracontext.redaction import Redactor
from ultracontext.runtime.client import ControlClient
from ultracontext.runtime.lock import Holder, running
from ultracontext.store.base import SpaceStore

if TYPE_CHECKING:
    from ultracontext.switch.ledger import Row

SECONDS = 10.0
"""How long readers of the index are waited for."""
DAEMON_SECONDS = 15.0
"""How long the daemon may take to answer: longer than it waits for its index."""


def leave_index(
    paths: Paths, space: SpaceStore, redactor: Callable[[], Redactor], contexts: Collection[str]
) -> bool:
    """Takes wiped contexts out of `index.db`; False when bytes of them may still be there. The
    daemon does it when one runs, because it is the index's writer."""
    holder = running(paths.lock_file)
    if holder is not None and not holder.once:
        return _told(paths, holder, contexts)
    if not paths.index_file.exists():
        return True
    try:
        return _done_here(paths.index_file, space, redactor(), contexts)
    except StoreError as error:
        if error.code == "index-busy":
            return False
        for end in ("", "-wal", "-shm"):  # derived; the next reader makes it anew
            paths.index_file.with_name(paths.index_file.name + end).unlink(missing_ok=True)
        return True


def leave_ledger(paths: Paths, contexts: Collection[str]) -> list[Row]:
    """Takes texts, handoffs and kept copies of wiped contexts away. Gives what still lies in an
    agent's folder. Raises StoreError."""
    from ultracontext.switch.forget import forget
    from ultracontext.switch.ledger import Ledger

    return forget(Ledger(paths.state_dir / "switch.db"), paths.state_dir / "switch", contexts)


def written_copies(paths: Paths, contexts: Collection[str]) -> set[str]:
    """Contexts of sessions that a switch wrote from these. Raises StoreError."""
    from ultracontext.switch.forget import copies
    from ultracontext.switch.ledger import Ledger

    return copies(Ledger(paths.state_dir / "switch.db"), contexts)


def _told(paths: Paths, holder: Holder, contexts: Collection[str]) -> bool:
    client = ControlClient(paths.socket_of(holder.socket), timeout_seconds=DAEMON_SECONDS)
    with suppress(TransportError):  # an older daemon, or one that hangs
        return client.post("/forget", {"contexts": list(contexts)}).get("clean") is True
    return False


def _done_here(
    path: Path, space: SpaceStore, redactor: Redactor, contexts: Collection[str]
) -> bool:
    from ultracontext.search import Filler, Index

    index = Index(path, write=True)
    try:
        filler = Filler(index, space, redactor)
        for name in filler.forget(contexts):
            filler.update(name)
        deadline = time.monotonic() + SECONDS
        while not index.settle():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        return True
    finally:
        index.close()
