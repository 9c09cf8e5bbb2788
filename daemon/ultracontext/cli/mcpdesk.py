"""The surroundings of the MCP tools on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from threading import Lock
from typing import TYPE_CHECKING, Any

from ultracontext.cli.workspace import Workspace
from ultracontext.errors import StoreError, WriteRefusedError

if TYPE_CHECKING:
    from ultracontext.mcp import Desk
    from ultracontext.redaction import Redactor
    from ultracontext.search import Asked, Hit
    from ultracontext.store.base import SpaceStore

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
