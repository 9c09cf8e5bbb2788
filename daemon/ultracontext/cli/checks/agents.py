"""The agents: found, their versions, and files of theirs that are not read."""

from __future__ import annotations

from collections.abc import Iterator

from ultracontext.cli.checks.finding import INFO, WARNING, Finding
from ultracontext.cli.looked import anything_there
from ultracontext.cli.workspace import Workspace

MOST = 5


def present(place: Workspace) -> Iterator[Finding]:
    if not anything_there(place, place.settings):
        yield Finding(
            code="no-agents",
            level=WARNING,
            message="no agent's sessions were found on this machine",
            repair="`ultracontext config show` lists where they are looked for; set"
            " agents.<agent>.roots, or see `ultracontext demo`",
        )


def versions(place: Workspace) -> Iterator[Finding]:
    from ultracontext.agents import known
    from ultracontext.runtime.installed import installed

    for slug, spec in known().items():
        for one in installed(spec, place.env, place.home):
            if one.version not in spec.versions:
                tested = ", ".join(spec.versions) or "none"
                yield Finding(
                    code="agent-untested",
                    level=INFO,
                    message=f"{spec.name} {one.version} is installed; tested: {tested}",
                    repair=f"Nothing to do; `ultracontext compat --check` tells what is new in"
                    f" {slug}'s records",
                )


def sources(place: Workspace) -> Iterator[Finding]:
    """Files that capture set aside. Their paths are masked."""
    with place.reading(place.paths.store_file) as space:
        found = (
            [] if space is None else [c for c in space.checkpoints() if c.problem and not c.gone]
        )
    by_code: dict[str, list[str]] = {}
    for source in found:
        by_code.setdefault(str(source.problem), []).append(source.path)
    for code, paths in sorted(by_code.items()):
        yield Finding(
            code="source-set-aside",
            level=WARNING,
            message=f"{len(paths)} files are not read to their end ({code}), such as {paths[0]}",
            repair="`ultracontext daemon logs` names the place; they are tried again when they"
            " change",
        )
