"""Which folder below `tmp` the CLI looks in for a project's sessions.

0.29 and later (runs of 0.29.0 and 0.61.0): the slug that `projects.json` names, unless that
folder's marker names another path; else any folder whose `.project_root` is the path; else a new
slug is claimed by a marker. Before: the sha256 of the path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePath
from typing import Any

from ultracontext.agents.gemini.values import mapping
from ultracontext.formats import Lookup

REGISTRY, MARKERS, SHADOWS = "projects", "markers", "shadows"

LOOKUPS = (
    Lookup(name=REGISTRY, path="projects.json"),
    Lookup(name=MARKERS, path="tmp/*/.project_root"),
    Lookup(name=SHADOWS, path="history/*/.project_root"),
)

_SLUG = re.compile(r"[a-z0-9-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder below `tmp`."""

    name: str
    marker: str | None
    """What has to be written to `.project_root` for the CLI to find it; None when it does."""


def hashed(cwd: str) -> str:
    """`projectHash`, and the folder's name before slugs."""
    return sha256(cwd.encode("utf-8", "surrogatepass")).hexdigest()


def folder_for(cwd: str, found: Mapping[str, Any]) -> Folder:
    """The folder in which the CLI will look; `found` answers `LOOKUPS`."""
    registry = _registry(found.get(REGISTRY))
    markers = [_markers(found.get(name)) for name in (MARKERS, SHADOWS)]
    named = registry.get(cwd)
    if named is not None and all(known.get(named, cwd) == cwd for known in markers):
        return Folder(name=named, marker=None if named in markers[0] else cwd)
    for known in markers:
        for name, path in known.items():
            if path == cwd:
                return Folder(name=name, marker=None if name in markers[0] else cwd)
    taken = {*registry.values(), *markers[0], *markers[1]}
    return Folder(name=_free(slug(cwd), taken), marker=cwd)


def slug(cwd: str) -> str:
    """The natural name of a folder: `acme-api` of `/home/dev/Acme API`."""
    name = re.sub(r"[^a-z0-9]+", "-", PurePath(cwd).name.lower()).strip("-")
    return name or "project"


def _free(name: str, taken: set[str]) -> str:
    number, chosen = 0, name
    while chosen in taken:
        number += 1
        chosen = f"{name}-{number}"
    return chosen


def _registry(text: Any) -> dict[str, str]:
    """Path → slug. One bad slug, and the CLI throws the whole registry away."""
    try:
        projects = mapping(mapping(json.loads(text)).get("projects"))
    except (TypeError, ValueError, RecursionError):
        return {}
    if all(type(name) is str and _SLUG.fullmatch(name) for name in projects.values()):
        return projects
    return {}


def _markers(found: Any) -> dict[str, str]:
    """Folder → the path that its marker names."""
    return {
        path.split("/")[-2]: text.strip()
        for path, text in mapping(found).items()
        if type(text) is str and path.count("/") >= 2
    }
