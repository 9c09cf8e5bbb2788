"""`show`: one session as text, markdown or JSON; with --raw the masked records themselves."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from ultracontext.cli import output
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.workspace import nothing_captured, workspace
from ultracontext.errors import NotFoundError
from ultracontext.settings import parse_time

if TYPE_CHECKING:
    from ultracontext.redaction import MaskedRecord, Redactor
    from ultracontext.store import VersionInfo
    from ultracontext.store.base import ContextRow, SpaceStore, StoredNode

    Pair = tuple[StoredNode, MaskedRecord]

app = command_app()

FORMATS = ("text", "markdown", "json")


@app.command()
def show(
    ident: Annotated[
        str,
        typer.Argument(metavar="ID", help="Context id, native session id, or a prefix."),
    ],
    raw: Annotated[bool, typer.Option("--raw", help="The masked native records.")] = False,
    history: Annotated[
        bool,
        typer.Option("--history", help="Versions, and earlier contents of records changed, too."),
    ] = False,
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="text, markdown or json.")
    ] = "text",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    store: Annotated[str | None, typer.Option(metavar="URL", help="Another store.")] = None,
    version: Annotated[
        int | None,
        typer.Option(metavar="N", help="As it was before a rewind or a compaction; from 0."),
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="As it was then: 2h, 1d ago, or ISO 8601."),
    ] = None,
    at: Annotated[
        int | None, typer.Option(metavar="K", help="Up to the message of this index, from 0.")
    ] = None,
    as_model: Annotated[
        bool,
        typer.Option(
            "--as-model", help="What its agent would send to the model now, after compactions."
        ),
    ] = False,
    salvage: Annotated[bool, typer.Option("--salvage", hidden=True)] = False,
    follow: Annotated[
        bool, typer.Option("-f", "--follow", help="Go on as it grows; --json: a message a line.")
    ] = False,
) -> None:
    """One session: what was typed, answered and done."""
    _check({"--salvage": salvage}, form)
    as_json = json or form == "json"
    _check_together({"--raw": raw, "--history": history, "--as-model": as_model, "-f": follow})
    if version is not None:
        _check_together({"--version": True, "--history": history, "-f": follow})
    _check_alone({"--before": before, "--at": at}, raw=raw, history=history, follow=follow)
    from ultracontext.store.session import read_session

    place = workspace()
    with place.reading(store) as space:
        if space is None:
            raise nothing_captured()
        row = space.find(ident)
        until = None if before is None else parse_time(before, now=datetime.now(UTC))
        version = _version_before(space, row, until) if version is None else version
        _check_version(row, version)
        if follow:
            _follow(space, row, place.redactor, "json" if as_json else form)
        if raw:
            _print_records(
                space, row, place.redactor, as_json=as_json, history=history, version=version
            )
            return
        found = read_session(space, row, place.redactor, as_model=as_model, version=version)
        _cut(found, until, at)
        if as_json:
            body = session_json(row, found)
            if version is not None:
                body["version"] = version
            if history:
                body["versions"] = [_version(made) for made in space.versions(row.context_id)]
                body["history"] = [_native(p) for p in _superseded(space, row, place.redactor)]
            output.write_json(body)
            return
        _print_blocks(row, found, form)
        if history:
            _print_versions(space, row)
            _print_history(space, row, place.redactor)


def _check_alone(given: dict[str, Any], **others: bool) -> None:
    """Options that choose a state do not go with those that show more than one."""
    for name, value in given.items():
        if value is not None:
            beside = {
                "-f" if other == "follow" else f"--{other}": on for other, on in others.items()
            }
            _check_together({name: True, **beside})


def _version_before(space: SpaceStore, row: ContextRow, until: datetime | None) -> int | None:
    """The newest version that was made at or before a moment; None without one."""
    if until is None:
        return None
    made = [one.version for one in space.versions(row.context_id) if one.created_at <= until]
    if not made:
        raise NotFoundError(
            "this session began later than that",
            hint="`show ID --history` lists its versions",
            code="no-version-before",
        )
    return max(made)


def _cut(found: Any, until: datetime | None, at: int | None) -> None:
    """The state right after the last message at or before `until`; of it those up to index `at`."""
    if until is not None:
        last = 0
        for number, message in enumerate(found.messages, start=1):
            stamp = message.timestamp
            if stamp is not None and datetime.fromisoformat(stamp) <= until:
                last = number
        del found.messages[last:]
    if at is None:
        return
    if not 0 <= at < len(found.messages):
        raise UsageError(
            f"there is no message {at}", hint=f"There are 0 to {len(found.messages) - 1}"
        )
    del found.messages[at + 1 :]


def _print_blocks(row: ContextRow, found: Any, form: str, told: Collection[str] = ()) -> None:
    """The whole session, or what of it was not told yet."""
    from ultracontext.cli import render

    whole = {"text": render.text, "markdown": render.markdown}[form]
    since = {"text": render.text_since, "markdown": render.markdown_since}[form]
    width = output.columns()
    for block in since(row, found, width, told) if told else whole(row, found, width):
        output.write(block)


def _check(reserved: dict[str, Any], form: str) -> None:
    for name, value in reserved.items():
        if value not in (None, False):
            raise UsageError(
                f"{name} is not available yet", hint="Leave it out", code="not-available"
            )
    if form not in FORMATS:
        raise UsageError(f"no format {form!r}", hint=f"One of {', '.join(FORMATS)}")


def _check_together(given: dict[str, bool]) -> None:
    """`--raw --history` go together; what the model gets and what grows stand alone."""
    names = [name for name, value in given.items() if value]
    if len(names) > 1 and names != ["--raw", "--history"]:
        raise UsageError(f"{names[-1]} does not go with {names[0]}", hint="Leave one out")


def _follow(space: SpaceStore, row: ContextRow, redactor: Redactor, form: str) -> NoReturn:
    from ultracontext.cli.follow import growing

    told: set[str] = set()
    for found in growing(space, row, redactor):
        if form == "json":
            _print_lines(found, told)
        else:
            _print_blocks(row, found, form, told)
        told.update(message.id for message in found.messages)
    raise AssertionError("a session grows for ever")


def _print_lines(found: Any, told: Container[str]) -> None:
    """New messages, one JSON object a line."""
    for index, message in enumerate(found.messages):
        if message.id not in told:
            output.write_json({"index": index, **message_json(message)})


def session_json(row: ContextRow, found: Any) -> dict[str, Any]:
    """The shape of `show --json`."""
    import msgspec

    facts = found.facts
    metadata = {k: v for k, v in msgspec.to_builtins(facts).items() if k not in ("base", "traits")}
    metadata |= {"source": row.agent, "nodes": row.nodes, "parent_id": row.parent_id}
    return {
        "id": row.context_id,
        "session_id": row.session_id,
        "agent": row.agent,
        "version": row.version,
        "metadata": metadata,
        "messages": [
            {"index": index, **message_json(message)}
            for index, message in enumerate(found.messages)
        ],
    }


def message_json(message: Any) -> dict[str, Any]:
    tool = message.tool
    body: dict[str, Any] = {
        "id": message.id,
        "role": message.role,
        "kind": message.kind,
        "event_type": message.event_type,
        "text": message.text,
        "timestamp": message.timestamp,
        "metadata": message.metadata,
    }
    if tool is not None:
        body["tool"] = {
            "name": tool.name,
            "call_id": tool.call_id,
            "input": tool.input,
            "output": tool.output,
            "is_error": tool.is_error,
        }
    return body


def _print_records(
    space: SpaceStore,
    row: ContextRow,
    redactor: Redactor,
    *,
    as_json: bool,
    history: bool,
    version: int | None,
) -> None:
    """Streams the records, so that a long session needs little memory."""
    from ultracontext.store.beginning import Beginnings

    pieces = Beginnings(space, redactor).pieces(row, version=version)
    pairs: Iterator[Pair] = (
        (p.node, p.record) for p in pieces if p.node is not None and p.record is not None
    )
    if history:
        pairs = chain(pairs, _superseded(space, row, redactor))
    if not as_json:
        for _, record in pairs:
            output.write(output.visible(_text(record)))
        return
    head = output.json_bytes({"id": row.context_id, "session_id": row.session_id})
    output.write_bytes(head[:-1] + b',"records":[')
    for number, pair in enumerate(pairs):
        output.write_bytes((b"," if number else b"") + output.json_bytes(_native(pair)))
    output.write_bytes(b"]}\n")


def _check_version(row: ContextRow, version: int | None) -> None:
    if version is not None and not 0 <= version <= row.version:
        from ultracontext.errors import VersionNotFoundError

        raise VersionNotFoundError(
            f"no version {version} of {row.context_id}", hint=f"There are 0 to {row.version}"
        )


def _version(made: VersionInfo) -> dict[str, Any]:
    """One version as `--history` gives it; `affected` are the messages that it put aside."""
    from ultracontext.store.values import iso

    return {
        "version": made.version,
        "id": made.version_id,
        "operation": made.operation,
        "cause": _cause(made),
        "affected": made.affected,
        "created_at": iso(made.created_at),
    }


def _cause(made: VersionInfo) -> str | None:
    """Why capture made it: `rewind`, `compaction`; None of others."""
    known = made.metadata
    return known.get("cause") if isinstance(known, dict) else None


def _print_versions(space: SpaceStore, row: ContextRow) -> None:
    from ultracontext.store.values import iso

    made = space.versions(row.context_id)
    if len(made) < 2:
        return
    output.write()
    output.write("── Versions: `show --version N` gives the state before the next one ──")
    for version in made:
        what = _cause(version) or version.operation
        count = len(version.affected or ())
        aside = f", {count} message{'s' * (count != 1)} put aside" if count else ""
        output.write(f"version {version.version}, {iso(version.created_at)}: {what}{aside}")


def _print_history(space: SpaceStore, row: ContextRow, redactor: Redactor) -> None:
    for number, (node, record) in enumerate(_superseded(space, row, redactor)):
        if not number:
            output.write()
            output.write("── Earlier contents of records that were changed in place ──")
        output.write(
            f"revision {node.revision} of {node.event_type or 'a record'} at {node.start}:"
        )
        output.write(output.visible(_text(record)))


def _superseded(space: SpaceStore, row: ContextRow, redactor: Redactor) -> Iterator[Pair]:
    """Contents that a later revision of the same record replaced, with their place."""
    from ultracontext.store.beginning import remask

    newest = {node.event_id for node in space.nodes(row.context_id)}
    for node in space.nodes(row.context_id, all_revisions=True):
        if node.event_id not in newest:
            yield node, remask(node, row.agent, redactor)


def _native(pair: Pair) -> dict[str, Any]:
    """One record as `--raw` and `--history` give it; `position` is its start in the source."""
    node, record = pair
    head = {"event_id": node.event_id.hex(), "position": node.start}
    if node.too_large is not None:
        return head | {"text": _text(record), "too_large": list(node.too_large)}
    if record.text is not None:
        return head | {"text": record.text}
    return head | {"native": record.native}


def _text(record: MaskedRecord) -> str:
    if record.too_large is not None:
        size, digest = record.too_large
        return f"[a record of {size} bytes was left out, its digest is {digest}]"
    if record.text is not None:
        return record.text
    return output.json_bytes(record.native).decode()
