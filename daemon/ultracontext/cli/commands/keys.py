"""`keys`: create, list and revoke the keys of a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracontext.cli import output
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.stores import open_for_writing, served
from ultracontext.cli.table import Column, render
from ultracontext.cli.workspace import Workspace, workspace
from ultracontext.errors import ConflictError, NotFoundError, WriteRefusedError

if TYPE_CHECKING:
    from ultracontext.store import Store
    from ultracontext.store.keys import Key, Keys

app = command_app(help="Create, list and revoke the keys of a server.")

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
StoreUrl = Annotated[str | None, typer.Option("--store", metavar="URL", help="Another store.")]

COLUMNS = (
    Column(name="Key", least=20),
    Column(name="Name", least=8, weight=2),
    Column(name="Space", least=8, weight=1),
    Column(name="Role", least=6),
    Column(name="Created", least=16),
    Column(name="Last used", least=16),
)
MOST_NAME = 200


@contextmanager
def _keys(place: Workspace, store: str | None) -> Iterator[tuple[Keys, Store]]:
    from ultracontext.store.keys import open_keys

    url: str | Path = served(place, place.settings, store)
    if str(url).startswith("memory:"):
        raise UsageError("a memory store keeps no keys", hint="Name sqlite:///path")
    opened = open_for_writing(place, url)
    keys = open_keys(opened, url)
    try:
        yield keys, opened
    finally:
        keys.close()
        opened.close()


@app.command("create")
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who or what uses it.")],
    space: Annotated[
        str | None, typer.Option(metavar="S", help="A space that exists; else one called NAME.")
    ] = None,
    role: Annotated[
        str, typer.Option(metavar="R", help="ingest, read, write (deletes too) or admin.")
    ] = "write",
    redact: Annotated[
        bool, typer.Option("--redact-on-ingest", help="Mask what is appended with it.")
    ] = False,
    test: Annotated[bool, typer.Option("--test", help="A uc_test_ key.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Also where a guard says no.")] = False,
    store: StoreUrl = None,
    json: Json = False,
) -> None:
    """Makes a key and prints it, this once."""
    from ultracontext.store.keys import ROLES, issue
    from ultracontext.wire import iso_of

    if role not in ROLES:
        raise UsageError(f"no role {role!r}", hint=f"One of {', '.join(ROLES)}")
    name = _checked(name.strip(), "a name")
    place = workspace()
    with _keys(place, store) as (keys, opened):
        target = _space(place, opened, keys, name, space, yes=yes, as_json=json)
        try:
            made = issue(
                keys, name=name, space=target, role=role, new_space=space is None, redact=redact,
                test=test, now=datetime.now(UTC),
            )  # fmt: skip
        except ConflictError as error:
            raise _taken(target) from error
    if json:
        found = {"key": made.key, "prefix": made.prefix, "space": made.space, "role": made.role}
        output.write_json(found | {"created_at": iso_of(made.created_at)})
        return
    output.note(f"The key of {output.one_line(name)} for the space {output.one_line(target)},")
    output.note("shown this once:")
    output.write(made.key)


def _checked(text: str, what: str) -> str:
    if not text or len(text) > MOST_NAME or not text.isprintable():
        raise UsageError(f"{what} has 1 to {MOST_NAME} printable characters", hint="Shorten it")
    return text


def _space(
    place: Workspace, store: Store, keys: Keys, name: str, space: str | None, *, yes: bool,
    as_json: bool,
) -> str:  # fmt: skip
    """The space that the key is for; raises WriteRefusedError where a guard says no."""
    from ultracontext.store import LOCAL_SPACE
    from ultracontext.store.keys import RESERVED_SPACES

    if space is None:
        if name in RESERVED_SPACES:
            raise WriteRefusedError(
                f"the space {name} is reserved", hint=f"Give --space {name} if you mean it"
            )
        if _is_used(store, name):
            raise _taken(name)
        return name
    space = _checked(space.strip(), "a space")
    if space == LOCAL_SPACE:
        _warn_of_local(place, store, yes=yes, as_json=as_json)
    elif space not in RESERVED_SPACES and not keys.rows(space) and not _is_used(store, space):
        raise WriteRefusedError(
            f"there is no space {space}", hint="Leave --space out to make one", code="no-space"
        )
    return space


def _is_used(store: Store, space: str) -> bool:
    return bool(store.within(space).list_contexts(limit=1).contexts)


def _warn_of_local(place: Workspace, store: Store, *, yes: bool, as_json: bool) -> None:
    from ultracontext.api.running import running_servers
    from ultracontext.store import LOCAL_SPACE

    count = len(store.within(LOCAL_SPACE).contexts(limit=0, children=True))
    open_ones = [one for one in running_servers(place.paths.run_dir) if not one.loopback]
    if open_ones and not yes:
        raise WriteRefusedError(
            f"a server listens on {open_ones[0].host}, and the key would open {count} of this"
            " machine's sessions to others",
            hint="Give --yes if you mean it",
            code="local-space",
        )
    if not as_json:
        output.note(f"This key opens {count} of this machine's own sessions.")


def _taken(space: str) -> WriteRefusedError:
    return WriteRefusedError(
        f"the space {space} exists already",
        hint=f"Give --space {space} to make another key for it",
        code="space-exists",
    )


@app.command("list")
def listing(
    space: Annotated[str | None, typer.Option(metavar="S", help="Only this space's.")] = None,
    store: StoreUrl = None,
    json: Json = False,
) -> None:
    """Lists keys, without their secrets."""
    with _keys(workspace(), store) as (keys, _):
        rows = keys.rows(space)
    if json:
        from ultracontext.api.auth import shown

        output.write_json([shown(key) for key in rows])
        return
    if not rows:
        output.note("There are no keys. `ultracontext keys create NAME` makes one.")
        return
    for line in render(COLUMNS, [_row(key) for key in rows], output.columns()):
        output.write(line)


def _row(key: Key) -> list[str]:
    from ultracontext.cli.commands.status import local
    from ultracontext.wire import iso_of

    def time(when: datetime | None) -> str:
        return "never" if when is None else str(local(iso_of(when)))

    role = key.role if key.revoked_at is None else "revoked"
    used = time(key.last_used_at)
    return [key.prefix, key.name, key.space, role, time(key.created_at), used]


@app.command("revoke")
def revoke(
    prefix: Annotated[str, typer.Argument(metavar="KEY", help="What `keys list` shows of it.")],
    store: StoreUrl = None,
    json: Json = False,
) -> None:
    """Takes a key back: at once here, within a second in every server of the store."""
    with _keys(workspace(), store) as (keys, _):
        found = _named(keys, prefix)
        gone = keys.revoke(found.prefix, now=datetime.now(UTC)) or found
    if json:
        _print_revoked(gone)
    else:
        output.note(f"Revoked {gone.prefix} ({output.one_line(gone.name)}).")


def _named(keys: Keys, name: str) -> Key:
    """By prefix, a unique beginning of it, or the whole key."""
    from ultracontext.store.keys import prefix_of

    given = prefix_of(name)
    found = [
        key for key in keys.rows() if len(given) > len("uc_live_") and key.prefix.startswith(given)
    ]
    if not found:
        raise NotFoundError("no such key", hint="`ultracontext keys list` shows them")
    if len(found) > 1:
        raise UsageError("that begins several keys", hint="Give more of it")
    return found[0]


def _print_revoked(key: Key) -> None:
    from ultracontext.api.auth import shown

    body: dict[str, Any] = shown(key)
    output.write_json({"revoked": True, **body})
