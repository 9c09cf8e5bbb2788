"""Groups of commands: imported late, and naming the nearest of a mistyped one."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from ultracontext.errors import UltraContextError


class UsageError(UltraContextError):
    """The command line is wrong."""

    code = "usage"
    exit_code = 2


class Entry(NamedTuple):
    """One command: where it stands in `--help`, and the module whose `app` it is."""

    group: str
    module: str
    help: str


def with_default(option: str, value: str) -> type[TyperCommand]:
    """A command of which one option may stand without its value, and then has this one."""

    class Command(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            filled: list[str] = []
            for place, word in enumerate(args):
                filled.append(word)
                after = args[place + 1 : place + 2]
                if word == option and (not after or after[0].startswith("-")):
                    filled.append(value)
            return super().parse_args(ctx, filled)

    return Command


class NearestGroup(TyperGroup):
    """Names the nearest command."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            names = self.list_commands(ctx)
            raise unknown_command(ctx.command_path, args[0], names)
        return super().resolve_command(ctx, args)


class LazyGroup(NearestGroup):
    """Imports a command's module when it is called; `--help` imports none."""

    entries: Mapping[str, Entry] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.entries)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        command = get_command(import_module(entry.module).app)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, entry in self.entries.items():
            groups.setdefault(entry.group, []).append((name, entry.help))
        for group, rows in groups.items():
            with formatter.section(group):
                formatter.write_dl(rows)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        self.format_commands(ctx, formatter)
        rows = [record for p in self.get_params(ctx) if (record := p.get_help_record(ctx))]
        with formatter.section("Options"):
            formatter.write_dl(rows)


def unknown_command(path: str, name: str, names: list[str]) -> UsageError:
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    return UsageError(
        f"no command {name!r}",
        hint=f"Did you mean `{path} {close[0]}`?" if close else f"`{path} --help` lists them",
    )


def command_app(**options: Any) -> typer.Typer:
    """A Typer without its own styling and traces."""
    return typer.Typer(
        cls=NearestGroup,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **options,
    )
