"""Which sessions the list shows, in which order. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ultracontext_dashboard.library import Entry

Sort = Literal["activity", "started", "messages", "tokens", "title"]
SORTS: tuple[Sort, ...] = ("activity", "started", "messages", "tokens", "title")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the person chose."""

    agent: str | None = None
    text: str = ""
    sort: Sort = "activity"
    grouped: bool = False
    unfolded: frozenset[str] = frozenset()
    """Context ids whose sub-agents are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of the list: a session, or the head of a group."""

    entry: Entry | None = None
    group: str = ""
    depth: int = 0
    folded: int = 0
    """Sub-agents that are not shown."""
    origin: str = ""
    """`continued from codex`, `fork`, `sub-agent`: what it is to the row above it."""

    @property
    def key(self) -> str:
        return self.entry.context_id if self.entry is not None else f"group {self.group}"


def arrange(entries: Mapping[str, Entry], view: View) -> list[Line]:
    """Rows in order. Families stay together: a session, then what hangs under it."""
    wanted = {key: entry for key, entry in entries.items() if _matches(entry, view)}
    children: dict[str, list[Entry]] = {}
    roots: list[Entry] = []
    for entry in wanted.values():
        parent = _parent(entry, wanted)
        if parent is None:
            roots.append(entry)
        else:
            children.setdefault(parent, []).append(entry)
    key = _key(view.sort, children)
    families = sorted(roots, key=key, reverse=view.sort != "title")
    if view.grouped:
        return _grouped(families, children, view, key)
    return [line for root in families for line in _family(root, children, view, key)]


def project_of(row: Mapping[str, Any]) -> str:
    """Name of the folder that a session is about."""
    path = str(row.get("project_path") or "")
    return path.rstrip("/").rpartition("/")[2] or path


def _matches(entry: Entry, view: View) -> bool:
    row = entry.row
    if view.agent is not None and row["agent"] != view.agent:
        return False
    if not view.text:
        return True
    hay = " ".join(
        str(part or "")
        for part in (
            row["agent"], row.get("project_path"), row.get("title"), row.get("git_branch"),
            row.get("session_id"), row.get("id"), row.get("model"), entry.doing.words,
            entry.doing.state, entry.doing.tool,
        )
    ).casefold()  # fmt: skip
    return all(word in hay for word in view.text.casefold().split())


def _parent(entry: Entry, wanted: Mapping[str, Entry]) -> str | None:
    """The family's head above it, if that is shown; a circle has none."""
    seen = {entry.context_id}
    parent = entry.row.get("parent_id")
    if parent is None or parent not in wanted or parent in seen:
        return None
    above: Any = parent
    while above is not None and above in wanted:
        if above in seen:
            return None
        seen.add(above)
        above = wanted[above].row.get("parent_id")
    return str(parent)


def _family(
    entry: Entry,
    children: Mapping[str, list[Entry]],
    view: View,
    key: Callable[[Entry], Any],
    depth: int = 0,
) -> Iterable[Line]:
    below = sorted(children.get(entry.context_id, ()), key=key, reverse=view.sort != "title")
    subagents = [child for child in below if child.row.get("relation") == "subagent"]
    shown = entry.context_id in view.unfolded or bool(view.text)
    yield Line(
        entry=entry,
        depth=min(depth, 4),
        folded=0 if shown else len(subagents),
        origin=_origin(entry.row) if depth else "",
    )
    for child in below:
        if shown or child.row.get("relation") != "subagent":
            yield from _family(child, children, view, key, depth + 1)


def _origin(row: Mapping[str, Any]) -> str:
    relation = row.get("relation")
    return {"subagent": "sub-agent", "switch": "continued", "fork": "fork"}.get(
        str(relation), str(relation or "")
    )


def _grouped(
    families: Iterable[Entry],
    children: Mapping[str, list[Entry]],
    view: View,
    key: Callable[[Entry], Any],
) -> list[Line]:
    groups: dict[str, list[Entry]] = {}
    for root in families:
        groups.setdefault(str(root.row.get("project_path") or "(no project)"), []).append(root)
    lines: list[Line] = []
    for name, members in groups.items():
        lines.append(Line(group=name))
        for root in members:
            lines += _family(root, children, view, key)
    return lines


def _key(sort: Sort, children: Mapping[str, list[Entry]]) -> Callable[[Entry], Any]:
    def newest(entry: Entry) -> str:
        own = str(entry.row.get("updated_at") or entry.row.get("started_at") or "")
        return max([own, *(newest(child) for child in children.get(entry.context_id, ()))])

    keys: dict[Sort, Callable[[Entry], Any]] = {
        "activity": lambda e: (newest(e), e.context_id),
        "started": lambda e: (str(e.row.get("started_at") or ""), e.context_id),
        "messages": lambda e: (e.row.get("messages") or 0, e.context_id),
        "tokens": lambda e: (e.row.get("tokens") or 0, e.context_id),
        "title": lambda e: (str(e.row.get("title") or "~").casefold(), e.context_id),
    }
    return keys[sort]
