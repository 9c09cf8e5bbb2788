"""The questions of `setup`, each with the answer that most people want as its default."""

from __future__ import annotations

from dataclasses import replace

import typer

from ultracontext.cli import output
from ultracontext.cli.looked import roots_in_use
from ultracontext.cli.planned import Plan, check, days_of, split
from ultracontext.cli.workspace import Workspace
from ultracontext.errors import UltraContextError

PROJECTS_SHOWN = 12


def asked(place: Workspace, plan: Plan) -> Plan:
    """The plan with the answers to all that no flag has answered."""
    output.note("UltraContext keeps a masked, searchable copy of your agents' sessions here.")
    output.note("Ctrl-C leaves everything as it is.")
    texts = dict(plan.settings)
    _agents(place, texts)
    _put(place, texts, "capture.include", "Which project folders (globs by comma, empty: all)?", "")
    _put(place, texts, "capture.backfill", "From when (all, new, or 30d)?", "all")
    if "retention.days" not in texts:
        texts["retention.days"] = _keep()
    _remote(place, texts)
    service = plan.service and typer.confirm("Start at login?", default=True, err=True)
    mcp = plan.mcp or typer.confirm(
        "Let agents read each other's sessions (MCP)?", default=False, err=True
    )
    if mcp:
        _put(
            place, texts, "mcp.projects", "Which projects may they read (current, all)?", "current"
        )
    return replace(plan, settings=_changed(place, texts), service=service, mcp=mcp)


def _agents(place: Workspace, texts: dict[str, str]) -> None:
    from pathlib import Path

    if "capture.agents" in texts:
        return
    found = [
        slug
        for slug, roots in roots_in_use(place, place.settings).items()
        if any(Path(root).expanduser().is_dir() for root in roots)
    ]
    output.note(f"Agents found: {', '.join(found) or 'none yet'}.")
    _put(place, texts, "capture.agents", "Which agents (by comma, empty: all)?", "")


def _keep() -> str:
    while True:
        answer = str(
            typer.prompt("How long to keep (forever, year, or days)?", default="forever", err=True)
        )
        try:
            return str(days_of(answer))
        except UltraContextError as error:
            output.note(str(error))


def _remote(place: Workspace, texts: dict[str, str]) -> None:
    _put(place, texts, "remote.url", "A server or PostgreSQL to copy to (URL, empty: none)?", "")
    if not texts.get("remote.url"):
        return
    for folder in _projects(place):
        output.note(f"  {output.one_line(folder)}")
    _put(place, texts, "remote.include", "Which projects leave (globs, ** for all)?", "")
    _put(place, texts, "remote.since", "From when (now, all)?", "now")


def _projects(place: Workspace) -> list[str]:
    with place.reading(place.paths.store_file) as space:
        rows = [] if space is None else space.contexts(limit=200)
    folders = dict.fromkeys(place.masked(row).facts.project_path or "" for row in rows)
    return [folder for folder in folders if folder][:PROJECTS_SHOWN]


def _put(place: Workspace, texts: dict[str, str], key: str, question: str, default: str) -> None:
    """Asks until the answer holds."""
    while key not in texts:
        answer = str(typer.prompt(question, default=default, show_default=bool(default), err=True))
        try:
            check(place, Plan(settings={**texts, key: answer}))
        except UltraContextError as error:
            output.note(str(error))
        else:
            texts[key] = ",".join(split(answer)) if "," in answer else answer.strip()


def _changed(place: Workspace, texts: dict[str, str]) -> dict[str, str]:
    """Without what is so already."""
    from ultracontext.settings import parse_value

    now = dict(place.settings.items())
    return {key: text for key, text in texts.items() if parse_value(key, text) != now.get(key)}
