"""Where each agent's sessions lie on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePath

from ultracontext.formats import AgentSpec
from ultracontext.settings import Settings


def agent_roots(
    settings: Settings, env: Mapping[str, str], home: Path, agents: Mapping[str, AgentSpec]
) -> dict[str, list[Path]]:
    """Folders of each agent: those of the settings, else where the agent itself keeps them."""
    roots: dict[str, list[Path]] = {}
    for slug, spec in agents.items():
        chosen = settings.agents.get(slug)
        if chosen is not None and chosen.roots:
            roots[slug] = [_expand(text, home) for text in chosen.roots]
        else:
            found = spec.roots(env, PurePath(home))
            roots[slug] = list(dict.fromkeys(Path(root) for root in found))
    return roots


def missing_roots(settings: Settings, home: Path) -> list[tuple[str, Path]]:
    """(agent, folder) of what the settings name and is not there, or is no folder."""
    return [
        (slug, folder)
        for slug, chosen in sorted(settings.agents.items())
        for folder in (_expand(text, home) for text in chosen.roots)
        if not folder.is_dir()
    ]


def _expand(text: str, home: Path) -> Path:
    return home / text[2:] if text.startswith("~/") else Path(text).expanduser()
