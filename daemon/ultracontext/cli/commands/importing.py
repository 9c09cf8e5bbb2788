"""`import`: what `export` wrote, into a store."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from ultracontext.cli import output
from ultracontext.cli.commands.export import masking
from ultracontext.cli.group import command_app
from ultracontext.cli.stores import editing
from ultracontext.cli.workspace import workspace
from ultracontext.errors import UltraContextError

app = command_app()


@app.command()
def take(
    file: Annotated[str, typer.Argument(metavar="FILE", help="What export wrote; - is stdin.")],
    raw: Annotated[bool, typer.Option("--raw", help="As it is, secrets too.")] = False,
    store: Annotated[str | None, typer.Option(metavar="URL", help="Another store.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Takes contexts with their history over. The same file again changes nothing."""
    import msgspec

    from ultracontext.store.transfer import import_lines

    place = workspace()
    with editing(place, store) as space:
        mask, rule_set = (None, None) if raw else masking(place)
        done = import_lines(
            space, _lines(file), mask=mask, rule_set=rule_set, now=datetime.now(UTC)
        )
    if json:
        output.write_json(msgspec.to_builtins(done))
        return
    output.write(
        f"{done.contexts} contexts, {done.messages} messages, {done.versions} versions,"
        f" {done.tombstones} tombstones; {done.present} were there already"
    )
    for name, reason in done.skipped.items():
        output.write(output.one_line(f"left out {name}: {reason}"))


def _lines(file: str) -> Iterator[dict[str, Any]]:
    from ultracontext.store.transfer import TransferError
    from ultracontext.wire import parse

    try:
        opened = sys.stdin.buffer if file == "-" else open(file, "rb")  # noqa: SIM115, PTH123
        with opened as lines:
            for number, text in enumerate(lines, 1):
                if not text.strip():
                    continue
                try:
                    value = parse(text)
                except ValueError as error:
                    raise TransferError(f"line {number} is no JSON") from error
                if not isinstance(value, dict) or (number == 1 and value.get("type") != "export"):
                    raise TransferError(
                        "this is no export", hint="`ultracontext export -o FILE` writes one"
                    )
                yield value
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UltraContextError(
            f"cannot read {output.one_line(file)}: {reason}", hint="Check its name"
        ) from error
