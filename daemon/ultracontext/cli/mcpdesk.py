"""The surroundings of the MCP tools on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from ultracontext.cli.workspace import Workspace
from ultracontext.errors import StoreError, WriteRefusedError

if TYPE_CHECKING:
    from ultracontext.mcp import Desk
    from ultracontext.redaction import Redactor
    from ultracontext.search import Asked, Hit
    from ultracontext.store import Store
    from ultracontext.store.base import SpaceStore
    from ultracontext.store.keys import Key

SWITCH_SECONDS = 300


def desk_of(place: Workspace) -> Desk:
    """The chosen store, today's rules, the audit log."""
    from ultracontext.cli.stores import chosen, editing
    from ultracontext.mcp import Desk
    from ultracontext.runtime import audit

    lock = Lock()

    def redactor() -> Redactor:
        with lock:
            return place.redactor

    def record(action: str, **facts: Any) -> None:
        place.paths.ensure()
        audit.record(place.paths, action, pid=os.getpid(), **facts)

    local = chosen(place, None) == place.paths.store_file
    return Desk(
        reading=place.reading, redactor=redactor, record=record,
        editing=lambda: editing(place, None),
        search=(lambda space, asked: _found(place, space, asked)) if local else None,
        switch=(lambda name, to: _switched(place, name, to))
        if place.settings.mcp.allow_switch else None,
    )  # fmt: skip


def _found(place: Workspace, space: SpaceStore, asked: Asked) -> list[Hit]:
    from datetime import UTC, datetime

    from ultracontext.cli.commands.search import index_of
    from ultracontext.search import find

    index = index_of(place, space)
    try:
        return find(index, space, place.redactor, asked, now=datetime.now(UTC))
    finally:
        index.close()


def _switched(place: Workspace, name: str, to: str) -> dict[str, Any]:
    """By the command itself, in a process of its own."""
    command = [sys.executable, "-m", "ultracontext.cli", "switch", "--to", to, "--session", name]
    try:
        done = subprocess.run(  # noqa: S603  # our own program
            [*command, "--yes", "--no-launch", "--json"], env=dict(place.env), text=True,
            capture_output=True, stdin=subprocess.DEVNULL, timeout=SWITCH_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise StoreError("the switch took too long", hint="Run `ultracontext switch`") from error
    try:
        found = json.loads(done.stdout if done.returncode == 0 else done.stderr)
    except ValueError:
        found = {}
    if done.returncode or not isinstance(found, dict):
        told = found.get("error") if isinstance(found, dict) else None
        text = told.get("message") if isinstance(told, dict) else told
        raise WriteRefusedError(
            f"the switch was refused: {text or 'exit ' + str(done.returncode)}",
            hint="`ultracontext switch` tells more",
        )
    return found


class RemoteTools:
    """What `/mcp` of the server offers to a key: all that its space holds."""

    def __init__(
        self, place: Workspace, store: Store, redactor: Callable[[], Redactor], *, local: bool
    ) -> None:
        self._place, self._store, self._redactor, self._local = place, store, redactor, local

    def __call__(self, key: Key) -> KeyTools:
        from ultracontext.mcp import Desk
        from ultracontext.runtime import audit
        from ultracontext.store import LOCAL_SPACE

        place = self._place

        @contextmanager
        def space() -> Iterator[SpaceStore]:
            yield self._store.within(key.space)

        def record(action: str, **facts: Any) -> None:
            place.paths.ensure()
            audit.record(place.paths, action, key=key.prefix, space=key.space, **facts)

        found = self._local and key.space == LOCAL_SPACE
        return KeyTools(
            Desk(
                reading=space, redactor=self._redactor, record=record,
                editing=space if key.role in ("write", "admin") else None,
                search=(lambda at, asked: _found(place, at, asked)) if found else None,
            ),
            key.prefix,
        )  # fmt: skip


class KeyTools:
    """The tools for one key."""

    def __init__(self, desk: Desk, name: str) -> None:
        from ultracontext.mcp.answers import CAPABILITIES

        self.capabilities: Mapping[str, Any] = CAPABILITIES
        self._desk, self._name = desk, name

    def answer(self, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        from ultracontext.mcp import Everything
        from ultracontext.mcp.answers import answer

        return answer(self._desk, Everything(), f"key {self._name}", method, params)
