"""What the switch dialog knows of `compat --json` and `switch --json`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from ultracontext_dashboard.text import fit, keep_end, one_line

FIDELITIES = ("faithful", "text")
LOSSES = {
    "tool": "tools as text or under another name",
    "tool_output_cut": "outputs cut",
    "thinking": "thoughts left out",
    "image": "pictures as a note",
    "system": "system messages left out",
    "compacted": "compacted messages left out",
    "orphan": "calls or results without their other half",
    "text_safety": "texts made safe",
    "mask": "masks in place of secrets",
    "other": "others",
}
STYLES = {"tested": "bold green", "expected": "green", "refused": "bold red", "untested": "yellow"}
_ORDER = {"tested": 0, "expected": 1, "handoff": 2, "untested": 3, "refused": 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One row of the choice: an agent in one of its installed versions."""

    agent: str
    name: str
    version: str
    """Empty where none is installed: the command takes the newest that was tested."""
    verdict: str
    reason: str

    @property
    def installed(self) -> bool:
        return bool(self.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Target and options of one switch."""

    target: Target
    context_id: str
    last: str = ""
    folder: str = ""
    """Empty for the session's own."""
    fidelity: str = FIDELITIES[0]
    handoff: bool = False
    force: bool = False

    @property
    def is_handoff(self) -> bool:
        return self.handoff or self.target.verdict == "handoff"

    def words(self, *more: str) -> list[str]:
        """The command behind `ultracontext`."""
        found = ["switch", self.target.agent, "--session", self.context_id, "--json"]
        if self.last.isdecimal() and int(self.last) > 0 and not self.is_handoff:
            found += ["--last", str(int(self.last))]
        if self.folder:
            found += ["--cwd", self.folder]
        if self.is_handoff:
            return [*found, "--handoff", *more]
        if self.fidelity != FIDELITIES[0]:
            found += ["--fidelity", self.fidelity]
        if self.force:
            found += ["--force"]
        if self.target.version:
            found += ["--target-version", self.target.version]
        return [*found, *more]


def targets(compat: Any, source: str) -> list[Target]:
    """What can be chosen, the most certain first; agents that are not installed come last."""
    pairs = {
        str(pair.get("target")): pair
        for pair in _rows(compat, "pairs")
        if pair.get("source") == source
    }
    found = [
        _of_agent(agent, pairs.get(str(agent.get("agent")), {}), source)
        for agent in _rows(compat, "agents")
    ]
    return sorted(
        found,
        key=lambda t: (t.agent == source, not t.installed, _ORDER.get(t.verdict, 5), t.name),
    )


def _of_agent(agent: Any, pair: Any, source: str) -> Target:
    version = agent.get("installed")
    if not isinstance(version, str) or not version:
        return _absent(agent, pair, source)
    given = agent.get("from")
    said = given.get(source) if isinstance(given, dict) else None
    said = said if isinstance(said, dict) else {}
    verdict = str(said.get("verdict") or pair.get("verdict") or "untested")
    if pair.get("verdict") == "handoff":
        verdict = "handoff"
    reason = str(said.get("reason") or "") or _evidence(pair, version)
    return _target(agent, version, verdict, reason or str(pair.get("reason") or ""), source)


def _absent(agent: Any, pair: Any, source: str) -> Target:
    verdict = str(pair.get("verdict") or "untested")
    reason = str(pair.get("reason") or "")
    if verdict != "handoff":
        versions = ", ".join(str(v) for v in pair.get("target_versions") or [])
        reason = "not found here" + (f"; {verdict} with {versions}" if versions else "")
    return _target(agent, "", verdict, reason, source)


def _target(agent: Any, version: str, verdict: str, reason: str, source: str) -> Target:
    slug = str(agent.get("agent"))
    if slug == source:
        reason = "same agent: a clean copy" + (f"; {reason}" if reason else "")
    if verdict == "handoff":
        reason = "a first prompt that carries the history"
    return Target(
        agent=slug, name=str(agent.get("name") or slug), version=version, verdict=verdict,
        reason=one_line(reason),
    )  # fmt: skip


def _evidence(pair: Any, version: str) -> str:
    found = [one for one in _rows(pair, "evidence") if one.get("version") == version]
    if not found:
        return ""
    newest = max(str(one.get("date") or "") for one in found)
    return f"real program, {newest}" if newest else "real program"


def _rows(body: Any, name: str) -> Iterable[Any]:
    rows = body.get(name) if isinstance(body, dict) else None
    return (row for row in rows if isinstance(row, dict)) if isinstance(rows, list) else ()


def target_line(target: Target, *, chosen: bool = False) -> Text:
    """`● Codex 0.171.0      tested    real program, 2026-12-04`"""
    sign = "●" if chosen else "-" if target.verdict == "refused" else "○"
    line = Text(f"{sign} ", no_wrap=True, overflow="ellipsis")
    line.append(fit(one_line(f"{target.name} {target.version}"), 23) + " ")
    line.append(target.verdict.ljust(9), STYLES.get(target.verdict, ""))
    return line.append(target.reason, "dim")


def option_line(choice: Choice) -> Text:
    """The options beside those that are typed."""
    chosen = [f"fidelity {choice.fidelity}"]
    chosen += ["handoff"] if choice.is_handoff else []
    chosen += ["force"] if choice.force else []
    return Text("   ".join(chosen), style="dim")


def plan_text(found: Any, width: int) -> Text:
    """Counts, losses and notes of a dry run."""
    shown = Text()
    path = keep_end(one_line(str(found.get("path") or "")), max(10, width - 6))
    if found.get("verdict") == "handoff":
        shown.append(f"a document of about {found.get('tokens') or 0:,} tokens")
        shown.append(f", {found.get('turns') or 0} turns\n")
    else:
        shown.append(f"{found.get('messages') or 0:,} messages, ")
        shown.append(f"{found.get('tool_calls') or 0:,} tool calls")
        shown.append(f", about {found.get('tokens') or 0:,} tokens\n")
    shown.append(f"into {path}\n", "dim")
    shown.append("not as it was: " if found.get("losses") else "lost: ", "bold")
    shown.append(losses(found.get("losses") or ()) + "\n")
    for note in (found.get("notes") or ())[:3]:
        if "dry-run" not in str(note):
            shown.append(f"{one_line(str(note))}\n", "dim")
    shown.rstrip()
    return shown


def losses(rows: Sequence[Any]) -> str:
    """`3 thoughts left out, 1 pictures as a note`, or `nothing`."""
    told = [
        f"{row.get('count')} {LOSSES.get(str(row.get('kind')), one_line(str(row.get('kind'))))}"
        for row in rows
        if isinstance(row, dict)
    ]
    return ", ".join(told) or "nothing"
