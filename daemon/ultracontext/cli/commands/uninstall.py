"""`uninstall [--purge]`: takes away what we put on this machine, and lists what stays."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from ultracontext.cli import launchers, output
from ultracontext.cli.group import command_app
from ultracontext.cli.workspace import Workspace, workspace
from ultracontext.errors import UltraContextError, WriteRefusedError
from ultracontext.paths import OUR_NAMES

app = command_app()


@app.command()
def uninstall(
    purge: Annotated[
        bool, typer.Option("--purge", help="The store, settings and logs too: everything.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Removes service, launchers, MCP entries, skills and the key of the server; with --purge all
    that was kept."""
    place = workspace()
    homes = _homes(place)
    if not yes:
        _ask(place, homes if purge else [])
    from ultracontext.cli.background import stop_daemon
    from ultracontext.cli.commands.service import uninstall_service
    from ultracontext.service.credentials import Credentials

    _, outcome = uninstall_service(place)
    stop_daemon(place)
    removed = [str(file) for file in outcome.changed]
    removed += [str(path) for path in launchers.remove_launchers(place)]
    removed += _told_to_agents(place)
    url = _remote(place)
    held = Credentials(place.paths, place.env).forget(url)
    removed += [f"key of the server ({where})" for where in held]
    if purge:
        removed += [str(folder) for folder in homes if _remove(folder)]
    stays = [str(folder) for folder in homes if folder.exists()]
    stays.append(f"the program itself, in {sys.prefix}")
    _tell(removed, stays, purge=purge, json=json)
    return 0


def _told_to_agents(place: Workspace) -> list[str]:
    """Takes the MCP server and the skills out of the agents' own settings. What cannot be taken out
    is named, and is no reason to stay."""
    from ultracontext.agents import known
    from ultracontext.cli.commands import skills
    from ultracontext.cli.registering import taken_out

    try:
        rows = [(one.path, one.outcome) for one in taken_out(place)]
    except WriteRefusedError as error:
        rows = [("MCP entries", error.message)]
    found = [f"{path} (MCP: {outcome})" for path, outcome in rows]
    gone = skills.change(place, list(known()), remove=True)
    return found + [row["path"] for row in gone if row["outcome"] == "removed"]


def _homes(place: Workspace) -> list[Path]:
    """Top folders of ours that are there; never one that holds more than ours."""
    paths = place.paths
    folders = [folder for folder in paths.folders() if folder.exists()]
    tops = [f for f in folders if not any(o != f and f.is_relative_to(o) for o in folders)]
    foreign = {place.home, *place.home.parents}
    return [folder for folder in tops if folder not in foreign]


def _ask(place: Workspace, homes: list[Path]) -> None:
    if not sys.stdin.isatty():
        raise WriteRefusedError("this removes things", hint="Say so by --yes")
    what = "the login service, launchers, MCP entries, skills and the key of the server"
    output.note(f"This removes {what}" + (", and everything in:" if homes else "."))
    for folder in homes:
        output.note(f"  {folder}")
    if homes:
        output.note("Sessions that their agent has deleted since exist nowhere else.")
    if not typer.confirm("Do this?", default=False, err=True):
        raise WriteRefusedError("nothing was removed", hint="Run it again to do so")


def _remote(place: Workspace) -> str:
    try:
        return place.settings.remote.url
    except UltraContextError:
        return ""  # broken settings are no reason to stay


def _remove(folder: Path) -> bool:
    """Our own things in it, and the folder when nothing else is left."""
    try:
        for entry in folder.iterdir():
            if not _is_ours(entry.name):
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        if not any(folder.iterdir()):
            folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError as error:
        raise UltraContextError(
            f"cannot remove {folder}: {error.strerror or type(error).__name__}",
            hint="Remove it by hand",
            code="home",
        ) from error
    return not folder.exists()


def _is_ours(name: str) -> bool:
    return (
        name in (*OUR_NAMES, "autostart.sh", "service.json", "keys.json", "audit.jsonl", "cache")
        or name.startswith(("store.db", "index.db", "daemon.", "cli.log", ".config-", ".keys-"))
        or name.endswith(".log")
    )


def _tell(removed: list[str], stays: list[str], *, purge: bool, json: bool) -> None:
    if json:
        output.write_json({"removed": removed, "stays": stays})
        return
    for name in removed:
        output.write(output.one_line(f"removed  {name}"))
    for name in stays:
        output.write(output.one_line(f"stays    {name}"))
    if not purge:
        output.note("`ultracontext uninstall --purge` removes what was kept too.")
    output.note("Remove the program with what installed it: pipx, uv tool, apt, or its folder.")
