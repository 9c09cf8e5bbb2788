"""Which versions of the agents' files were met in the captured sessions, and what is new to us."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ultracontext.formats import AgentSpec
from ultracontext.store.base import ContextRow


class Met:
    """What the sessions of one agent say."""

    def __init__(self, spec: AgentSpec) -> None:
        self._spec = spec
        self._versions: dict[str, list[Any]] = {}
        self._unknown: dict[str, list[Any]] = {}

    def note(self, row: ContextRow) -> None:
        facts = row.facts
        if facts.agent_version is not None:
            seen = self._versions.setdefault(facts.agent_version, [0, ""])
            seen[0] += 1
            seen[1] = max(seen[1], facts.updated_at or "")
        for kind, count in facts.unknown.items():
            new = self._unknown.setdefault(kind, [0, 0, set()])
            new[0] += count
            new[1] += 1
            new[2].add(facts.agent_version or "")

    def versions(self) -> list[dict[str, Any]]:
        """The newest activity first."""
        ordered = sorted(self._versions.items(), key=lambda item: item[1][1], reverse=True)
        return [
            {
                "version": version, "sessions": sessions, "last_at": last or None,
                "tested": version in self._spec.versions,
            }
            for version, (sessions, last) in ordered
        ]  # fmt: skip

    def unknown(self) -> list[dict[str, Any]]:
        """The most frequent first."""
        ordered = sorted(self._unknown.items(), key=lambda item: (-item[1][0], item[0]))
        return [
            {"kind": kind, "records": n, "sessions": s, "versions": sorted(filter(None, versions))}
            for kind, (n, s, versions) in ordered
        ]


def met(specs: Iterable[AgentSpec], rows: Iterable[ContextRow]) -> dict[str, Met]:
    """By agent; sessions of agents that are not known here are left out."""
    found = {spec.slug: Met(spec) for spec in specs}
    for row in rows:
        if row.agent in found:
            found[row.agent].note(row)
    return found
