"""Where agents' sessions are looked for, told to a person of whom none was found."""

from __future__ import annotations

from pathlib import Path

from ultracontext.cli import output
from ultracontext.cli.workspace import Workspace
from ultracontext.settings import Settings

ELSEWHERE = (
    "Elsewhere? `ultracontext config set agents.<agent>.roots FOLDER`. No agent here?"
    " `ultracontext demo` shows how it works."
)


def roots_in_use(place: Workspace, settings: Settings) -> dict[str, list[str]]:
    """Folders of each agent, as they are shown."""
    return {
        slug: [output.one_line(_short(root, place.home)) for root in roots]
        for slug, roots in _roots(place, settings).items()
    }


def anything_there(place: Workspace, settings: Settings) -> bool:
    """Whether any agent has a folder here."""
    return any(root.is_dir() for roots in _roots(place, settings).values() for root in roots)


def looked_in(place: Workspace, settings: Settings) -> list[str]:
    """The lines that say so, the next step last."""
    from ultracontext.agents import known

    lines = ["No agent's sessions were found. Looked in:"]
    for slug, roots in _roots(place, settings).items():
        shown = (
            _short(root, place.home) + ("" if root.is_dir() else " (not there)") for root in roots
        )
        lines.append(f"  {known()[slug].name:<12} {output.one_line(', '.join(shown))}")
    return [*lines, ELSEWHERE]


def _roots(place: Workspace, settings: Settings) -> dict[str, list[Path]]:
    from ultracontext.agents import known
    from ultracontext.capture.roots import agent_roots

    return agent_roots(settings, place.env, place.home, known())


def _short(root: Path, home: Path) -> str:
    inside = home != Path("/") and root.is_relative_to(home)
    return str(Path("~") / root.relative_to(home)) if inside else str(root)
