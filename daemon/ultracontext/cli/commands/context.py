"""`context`: the git-like operations by hand, on the local store or on a server."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ultracontext.cli import output
from ultracontext.cli.contexts import confirm, json_object, json_value, opened, selector
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.workspace import workspace

app = command_app(help="Contexts with history, by hand: create, append, update, fork, diff …")

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
StoreUrl = Annotated[str | None, typer.Option("--store", metavar="URL", help="Another store.")]
Ident = Annotated[str, typer.Argument(metavar="ID", help="Context id, session id, or a prefix.")]
Metadata = Annotated[
    str | None,
    typer.Option(metavar="JSON", help="A JSON object, kept with it; @FILE reads a file."),
]
Raw = Annotated[bool, typer.Option("--raw", help="Store it as it is, secrets too.")]
Expect = Annotated[
    int | None, typer.Option("--expect", metavar="N", help="Refuse it at another version.")
]


def _done(json: bool, found: Any, text: str) -> None:
    if json:
        output.write_json(dict(found) if isinstance(found, dict) else found)
    else:
        output.write(output.one_line(text))


@app.command("create")
def create(
    metadata: Metadata = None,
    ident: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Make it this one, once.")
    ] = None,
    raw: Raw = False,
    store: StoreUrl = None,
    json: Json = False,
) -> None:
    """Makes an empty context and prints its id."""
    with opened(workspace(), store, redact=not raw) as contexts:
        made = contexts.client.create(metadata=json_object(metadata, "--metadata"), id=ident)
        _done(json, made, made["id"])


@app.command("append")
def append(
    ident: Ident,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="What is said; - reads stdin.")
    ] = None,
    role: Annotated[str, typer.Option(help="Who says it.")] = "user",
    message: Annotated[
        str | None,
        typer.Option(
            "--message", metavar="JSON", help="A message or an array; - reads stdin, @FILE a file."
        ),
    ] = None,
    metadata: Metadata = None,
    expect: Expect = None,
    raw: Raw = False,
    store: StoreUrl = None,
    json: Json = False,
) -> None:
    """Puts a message, or several, at the end. Secrets are masked."""
    given = _messages(text, role, message, json_object(metadata, "--metadata"))
    with opened(workspace(), store, redact=not raw) as contexts:
        name = contexts.id(ident)
        done = contexts.client.append(name, given, expected_version=expect)
        ids = " ".join(str(m["id"]) for m in done["data"])
        _done(json, done, f"version {done['version']}: {ids}")


def _messages(
    text: str | None, role: str, message: str | None, metadata: dict[str, Any] | None
) -> list[dict[str, Any]]:
    if (text is None) == (message is None):
        raise UsageError("give TEXT or --message", hint="`ultracontext context append --help`")
    if message is not None:
        value = json_value(message, "--message")
        given = value if isinstance(value, list) else [value]
        if not given or not all(isinstance(one, dict) for one in given):
            raise UsageError("--message is no object and no array of objects")
        return [one if metadata is None else {**one, "metadata": metadata} for one in given]
    if text == "-":
        import sys

        text = sys.stdin.read()
    return [{"role": role, "content": text, "metadata": metadata or {}}]


@app.command("update", context_settings={"ignore_unknown_options": True})
def update(
    ident: Ident,
    message: Annotated[
        str | None,
        typer.Argument(metavar="[MESSAGE]", help="Its id or index; none: the context's metadata."),
    ] = None,
    content: Annotated[str | None, typer.Option(metavar="TEXT", help="Its new content.")] = None,
    fields: Annotated[
        str | None, typer.Option("--set", metavar="JSON", help="Keys to set; null is stored.")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option(metavar="KEY", help="Keys that go; may be repeated.")
    ] = None,
    metadata: Metadata = None,
    expect: Expect = None,
    raw: Raw = False,
    store: StoreUrl = None,
    json: Json = False,
) -> None:
    """Changes one message, or the context's own metadata, by a new version."""
    changes = json_object(fields, "--set") or {}
    if content is not None:
        changes["content"] = content
    if not changes and not remove:
        raise UsageError("nothing to change", hint="Give --content, --set or --remove")
    why = json_object(metadata, "--metadata")
    with opened(workspace(), store, redact=not raw) as contexts:
        name, client = contexts.id(ident), contexts.client
        if message is None:
            if why is not None:
                raise UsageError("--metadata is of a version of messages", hint="Use --set")
            made = client.set_metadata(name, changes, remove=remove or [], expected_version=expect)
        else:
            which = selector(message)
            key = "index" if isinstance(which, int) else "id"
            one = {**changes, key: which} | ({"$remove": remove} if remove else {})
            made = client.update(name, [one], metadata=why, expected_version=expect)
        _edited(json, made)


@app.command("delete", context_settings={"ignore_unknown_options": True})
def delete(
    ident: Ident,
    messages: Annotated[
        list[str] | None, typer.Argument(metavar="[MESSAGE]…", help="Ids or indexes.")
    ] = None,
    wipe: Annotated[
        bool, typer.Option("--wipe", help="The whole context with its history, for good.")
    ] = False,
    forks: Annotated[bool, typer.Option("--forks", help="With --wipe: its forks too.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    metadata: Metadata = None,
    expect: Expect = None,
    store: StoreUrl = None,
    json: Json = False,
) -> None:
    """Removes messages by a new version, or wipes the context."""
    if wipe == bool(messages):
        raise UsageError("name messages, or --wipe for the whole context", hint="One of both")
    why = json_object(metadata, "--metadata")
    with opened(workspace(), store) as contexts:
        name, client = contexts.id(ident), contexts.client
        if not wipe:
            which = [selector(one) for one in messages or []]
            _edited(json, client.delete(name, which, metadata=why, expected_version=expect))
            return
        count = client.info(name)["messages"]
        confirm(name, f"This wipes {name} with {count} messages and its history", yes=yes)
        gone = client.delete(name, permanent=True, forks=forks, metadata=why)
        kept = gone.get("kept_forks", [])
        text = f"wiped {', '.join(gone.get('contexts', [name]))}"
        if kept:
            text += f"; forks that keep some of it: {', '.join(str(k['id']) for k in kept)}"
        _done(json, gone, text)


def _edited(json: bool, made: Any) -> None:
    shown = {name: made[name] for name in ("version", "affected")}
    if made.get("duplicate"):
        shown["duplicate"] = True
    _done(json, shown, f"version {made['version']}")


@app.command("fork")
def fork(
    ident: Ident,
    version: Annotated[int | None, typer.Option(metavar="N", help="Of this version.")] = None,
    before: Annotated[
        str | None, typer.Option(metavar="TIME", help="As it was then: ISO 8601, or 2h, 1d ago.")
    ] = None,
    at: Annotated[int | None, typer.Option(metavar="K", help="Messages 0 to K, inclusive.")] = None,
    metadata: Metadata = None,
    store: StoreUrl = None,
    json: Json = False,
) -> None:
    """Makes a context of its own from another: --version, then --before, then --at."""
    with opened(workspace(), store) as contexts:
        made = contexts.client.create(
            from_=contexts.id(ident), version=version, before=_time(before), at=at,
            metadata=json_object(metadata, "--metadata"),
        )  # fmt: skip
        _done(json, made, made["id"])


def _time(text: str | None) -> str | None:
    if text is None:
        return None
    from datetime import UTC, datetime

    from ultracontext.settings import parse_time
    from ultracontext.wire import iso_of

    return iso_of(parse_time(text, now=datetime.now(UTC)))


@app.command("checkpoint")
def checkpoint(
    ident: Ident, metadata: Metadata = None, expect: Expect = None, store: StoreUrl = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Seals the newest version: a fork of it holds nothing of what is appended from now on."""
    why = json_object(metadata, "--metadata")
    with opened(workspace(), store) as contexts:
        name = contexts.id(ident)
        made = contexts.client.checkpoint(name, metadata=why, expected_version=expect)
        version = made["version"]
        sealed = {"sealed": version - 1, "version": version}
        _done(json, sealed, f"version {version - 1} is sealed, {version} is the newest")


@app.command("log")
def log(ident: Ident, store: StoreUrl = None, json: Json = False) -> None:
    """Versions, oldest first; of a wiped context what stays of it."""
    from ultracontext.cli.commands.status import local

    with opened(workspace(), store) as contexts:
        entries = contexts.client.log(contexts.id(ident))
    if json:
        output.write_json(entries)
        return
    for entry in entries:
        number = entry.get("version")
        head = f"{'wiped' if number is None else f'version {number}':<12}"
        told = [head, f"{entry['operation']:<8}", str(local(entry["at"]))]
        if entry.get("affected"):
            told.append(f"{entry['affected']} changed")
        if "messages" in entry:
            told.append(f"{entry['messages']} messages")
        if entry.get("metadata"):
            told.append(output.json_bytes(entry["metadata"]).decode())
        output.write("  ".join(output.one_line(part) if part != head else head for part in told))


@app.command("diff")
def diff(
    ident: Ident,
    a: Annotated[int | None, typer.Argument(metavar="[A]", help="Version before.")] = None,
    b: Annotated[int | None, typer.Argument(metavar="[B]", help="Version after.")] = None,
    store: StoreUrl = None,
    json: Json = False,
) -> None:
    """What differs between two versions; without them, what the newest changed."""
    with opened(workspace(), store) as contexts:
        found = contexts.client.diff(contexts.id(ident), a, b)
    if json:
        output.write_json(found)
        return
    output.write(f"version {found['a']} to {found['b']}")
    for mark, messages in (("-", found["removed"]), ("+", found["added"])):
        for message in messages:
            output.write(f"{mark} {_line(message)}")
    for pair in found["changed"]:
        output.write(f"- {_line(pair['before'])}")
        output.write(f"+ {_line(pair['after'])}")
    if "metadata" in found:
        for mark, side in (("-", "before"), ("+", "after")):
            text = output.json_bytes(found["metadata"][side]).decode()
            output.write(f"{mark} metadata {output.one_line(text)}")


def _line(message: Any) -> str:
    shown = {k: v for k, v in message.items() if k not in ("id", "index")}
    if not shown.get("metadata"):
        shown.pop("metadata", None)
    return output.one_line(f"{message['index']} {output.json_bytes(shown).decode()}")


@app.command("verify")
def verify(
    ident: Ident,
    repair: Annotated[
        bool, typer.Option("--repair", help="Close gaps by a marked version.")
    ] = False,
    store: StoreUrl = None,
    json: Json = False,
) -> int:
    """Checks the chain of digests; exit 1 where it is broken."""
    from datetime import UTC, datetime

    from ultracontext.cli.stores import editing

    place = workspace()
    with opened(place, store) as contexts:
        name = contexts.id(ident)
        found = contexts.client.verify(name)
    if repair and not found["sound"]:
        from ultracontext.model import ContextId
        from ultracontext.store.exchange import shapes

        with editing(place, store) as space:
            done = space.repair(ContextId(name), now=datetime.now(UTC))
            found = shapes.verification(done)  # type: ignore[assignment]
    if json:
        output.write_json(found)
    else:
        _print_verified(name, found)
    return 0 if found["sound"] else 1


def _print_verified(name: str, found: Any) -> None:
    if found["sound"]:
        output.write(f"{name} is sound: {found['versions']} versions, {found['rows']} rows")
    else:
        gap = found["first_break"] or {}
        output.write(
            f"{name} is broken at position {gap.get('first')} ({gap.get('reason')});"
            " `--repair` closes it"
        )
    for gap in found.get("repaired", []):
        output.write(f"closed: positions {gap['first']} to {gap['last']} ({gap['reason']})")
