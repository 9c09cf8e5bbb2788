"""Captured sessions that today's rules leave out: they stay until they are forgotten."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ultracontext.capture.rules import Rules, Verdict
from ultracontext.store.base import SpaceStore

HINT = (
    "They stay in the store: `ultracontext forget ID` wipes one; take the rule back to capture"
    " them further"
)


def captured_ignored(space: SpaceStore, rules: Rules, agents: Collection[str] = ()) -> int:
    """How many captured sessions the rules name, or are of none of the chosen agents. Reads every
    session's facts."""
    lasting = replace(rules, paused=frozenset())
    if not lasting and not agents:
        return 0
    rows = space.contexts(limit=0, children=True)
    return sum(
        (bool(agents) and row.agent not in agents)
        or lasting.verdict(row.session_id.partition("~")[0], row.facts.project_path)
        is Verdict.IGNORE
        for row in rows
    )


def told(count: int) -> str:
    """`3 captured sessions match a rule that leaves them out`"""
    sessions, verb = ("session", "matches") if count == 1 else ("sessions", "match")
    return f"{count} captured {sessions} {verb} a rule that leaves them out from now on"
