"""The tools: each takes checked arguments and a library, and gives one answer within its budget."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from ultracontext.errors import SettingsError, StoreError, UltraContextError
from ultracontext.mcp import arguments as a
from ultracontext.mcp import writing
from ultracontext.mcp.budget import MARK, dumps, fit, fit_tail, line, room_of, within
from ultracontext.mcp.desk import Desk
from ultracontext.mcp.library import Item, Library
from ultracontext.mcp.scope import OPENED_BY, Scope, below
from ultracontext.settings import parse_time

Answer = dict[str, Any]
T = TypeVar("T", bound=a.Arguments)
BODIES_READ = 20
"""Sessions that one call reads whole, at most."""


class Tool(msgspec.Struct, kw_only=True, frozen=True):
    """One tool as clients see it, and what it does."""

    name: str
    text: str
    takes: type[a.Arguments]
    run: Callable[[Library, Any], Answer]
    writes: bool = False


def listed(desk: Desk) -> list[Tool]:
    """The tools that are on here."""
    return [
        tool
        for tool in TOOLS
        if not (tool.writes and desk.editing is None)
        and not (tool.name == "switch_session" and desk.switch is None)
        and not (tool.name == "search_contexts" and desk.search is None)
    ]


def call(desk: Desk, scope: Scope, client: str, name: str, given: dict[str, Any]) -> str:
    """Runs a tool. Raises UltraContextError with what to do next; KeyError: no such tool."""
    tool = {tool.name: tool for tool in listed(desk)}[name]
    wanted = _checked(tool.takes, given)
    with desk.reading() as space:
        library = Library(desk, space, scope)
        answer = tool.run(library, wanted)
        _ = library.items
        if library.hidden:
            answer["other_projects"] = {"sessions_left_out": library.hidden, "opened_by": OPENED_BY}
        if library.read or tool.writes:
            desk.record(
                "mcp-write" if tool.writes else "mcp-read", client=line(client, 100), tool=name,
                contexts=sorted(set(library.read)),
            )  # fmt: skip
    return within(answer, wanted.max_tokens)


def _checked(kind: type[T], given: dict[str, Any]) -> T:
    try:
        return msgspec.convert({k: v for k, v in given.items() if v is not None}, kind)
    except msgspec.ValidationError as error:
        names = ", ".join(field.name for field in msgspec.structs.fields(kind))
        raise SettingsError(
            f"wrong arguments: {line(str(error), 200)}", hint=f"It takes {names}", code="arguments"
        ) from error


# ---- reading -------------------------------------------------------------------------------------
def list_contexts(library: Library, wanted: a.ListContexts) -> Answer:
    after, before = _when(library, wanted.after), _when(library, wanted.before)
    found = [
        {**item.brief(), "metadata": item.metadata}
        for item in library.items
        if _matches(library, item, wanted) and _between(item, after, before)
    ]
    return _page(library, "contexts", found, wanted, wanted.limit)


def _matches(library: Library, item: Item, wanted: a.ListContexts) -> bool:
    if wanted.source and item.agent != wanted.source:
        return False
    if wanted.project_path and item.project_path != wanted.project_path:
        return False
    if wanted.session_id and item.session_id != wanted.session_id:
        return False
    for name in ("user_id", "host"):
        value = getattr(wanted, name)
        if value and _fact(library, item, name) != value:
            return False
    return True


def _fact(library: Library, item: Item, name: str) -> Any:
    known: Any = item.metadata
    if item.row is not None and library.space is not None:
        known = library.space.context(item.context_id).metadata
    return known.get(name) if isinstance(known, dict) else None


def get_context_messages(library: Library, wanted: a.GetContextMessages) -> Answer:
    item = library.get(wanted.context_id)
    said = library.messages(item)
    start, offset = max(wanted.first, len(said) - wanted.last if wanted.last else 0), 0
    if wanted.cursor.startswith(BEFORE):
        return _tail(library, item, said, wanted, len(said))
    if wanted.cursor:
        start, offset = place_of(wanted.cursor)
    if start > len(said):
        raise SettingsError(
            f"there is no message {start}", hint=f"The session has {len(said)}", code="index"
        )
    if start < len(said):
        offset = min(offset, len(said[start]["text"]))
    answer: Answer = {"about": MARK, "context": item.brief(), "total": len(said)}
    window = fit(said, _room(answer, wanted), start=start, offset=offset)
    answer["messages"] = window.items
    if window.after < len(said):
        answer["next_cursor"] = f"{window.after}:{window.offset}"
    answer["left_out"] = {"before": start, "after": len(said) - window.after}
    return answer


def get_recent_activity(library: Library, wanted: a.GetRecentActivity) -> Answer:
    item = _latest(library, wanted.source, "")
    if item is None:
        return {"about": MARK, "context": None, "messages": [], "note": "No recent activity found."}
    return _tail(library, item, library.messages(item), wanted, wanted.message_limit)


def get_session(library: Library, wanted: a.GetSession) -> Answer:
    item = _chosen(library, wanted.session, wanted.agent, wanted.project)
    return _tail(library, item, library.messages(item), wanted, 0)


def search_contexts(library: Library, wanted: a.SearchContexts) -> Answer:
    from ultracontext.search import Asked
    from ultracontext.search.query import ROLES

    if wanted.role and wanted.role not in ROLES:
        raise SettingsError(
            f"no role {line(wanted.role, 40)!r}", hint=f"One of {', '.join(ROLES)}", code="role"
        )
    seen = {item.context_id: item for item in library.items if _in(item, wanted.project)}
    folders = {item.project_path for item in seen.values() if item.project_path}
    asked = Asked(
        query=wanted.query, agent=wanted.agent or None,
        projects=tuple(sorted(folders)) if len(folders) <= MOST_FOLDERS else None,
        since=_when(library, wanted.since), until=_when(library, wanted.until),
        role=wanted.role or None, tool=wanted.tool or None, file=wanted.file or None, limit=1000,
    )  # fmt: skip
    hits = []
    if library.space is not None and seen and library.desk.search is not None:
        hits = library.desk.search(library.space, asked)
    visible = [hit for hit in hits if hit.context_id in seen]
    rows = [
        {
            "context_id": hit.context_id, "session_id": line(hit.session_id), "agent": hit.agent,
            "project_path": line(hit.project_path, 300), "message_id": hit.message_id,
            "index": hit.index, "role": hit.role, "timestamp": hit.timestamp,
            "snippet": line(hit.snippet, 400), "link": f"ultracontext://sessions/{hit.context_id}",
        }
        for hit in visible
    ]  # fmt: skip
    answer = _page(library, "hits", rows, wanted, wanted.limit)
    library.read += [row["context_id"] for row in answer["hits"]]
    return answer


def whats_happening(library: Library, wanted: a.WhatsHappening) -> Answer:
    since = _when(library, wanted.since)
    recent = [item for item in library.items if _between(item, since, None)]
    rows = [_doing(library, item) for item in recent[: min(wanted.limit, BODIES_READ)]]
    rows.sort(key=lambda row: row.get("project_path", ""))
    answer = _page(library, "sessions", rows, wanted, wanted.limit)
    answer["left_out"]["sessions_not_looked_at"] = len(recent) - len(rows)
    return answer


def _doing(library: Library, item: Item) -> Answer:
    from ultracontext.formats.activity import Activity
    from ultracontext.store.session import read_session

    row = item.brief()
    if item.row is None or library.space is None:
        return row
    library.read.append(item.context_id)
    activity = Activity()
    activity.see(read_session(library.space, item.row, library.desk.redactor()).messages)
    row["state"] = activity.state(library.desk.now())
    if activity.words:
        row["last_words"] = {"by": activity.last_role, "text": line(activity.words, 300)}
    if activity.open_call is not None:
        row["running"] = line(f"{activity.open_call.name}: {activity.open_call.brief}", 200)
    return row


def get_file_history(library: Library, wanted: a.GetFileHistory) -> Answer:
    found = [item for item in library.items if any(_is(f, wanted.path) for f in item.files)]
    start, _ = place_of(wanted.cursor)
    some = found[start : start + min(wanted.limit, BODIES_READ)]
    rows = [{**item.brief(), **_why(library, item, wanted.path)} for item in some]
    base: Answer = {"about": MARK, "path": line(wanted.path, 300), "total": len(found)}
    window = fit(rows, _room(base, wanted))
    after = start + window.after
    if after < len(found):
        base["next_cursor"] = str(after)
    base["left_out"] = {"sessions": len(found) - len(window.items)}
    return {**base, "sessions": window.items}


def _why(library: Library, item: Item, path: str) -> Answer:
    """What a person had asked for when the file was touched, newest first."""
    name = path.rstrip("/").rpartition("/")[2]
    asked, touched = "", []
    for message in library.messages(item):
        if message["kind"] == "user":
            asked = message["text"]
        elif message["kind"] == "tool_call" and name in message["text"]:
            touched.append({"index": message["index"], "at": message.get("at"),
                            "tool": message.get("tool"), "asked": line(asked, 200)})  # fmt: skip
    return {"touched": touched[-3:][::-1], "times": len(touched)}


def handoff(library: Library, wanted: a.Handoff) -> Answer:
    item = _chosen(library, wanted.session, wanted.agent, "")
    return handed(library, item, wanted.max_tokens)


def handed(library: Library, item: Item, budget: int) -> Answer:
    """The document and its frame, together within the budget."""
    from ultracontext.switch.handoff import SMALLEST_BUDGET, tokens_of
    from ultracontext.switch.handoff import handoff as made_of
    from ultracontext.switch.stored import stored_session

    row = library.row(item)
    assert library.space is not None  # noqa: S101
    library.read.append(item.context_id)
    session = stored_session(library.space, row, library.desk.redactor())
    answer: Answer = {"about": MARK, "context": item.brief(), "turns": 0, "whole_turns": 0}
    most = room_of(answer, budget) // 3
    while True:
        made = made_of(
            session.live, session.facts, source=session.spec.name, session_id=item.session_id,
            masked=True, budget=max(most, SMALLEST_BUDGET),
        )  # fmt: skip
        answer |= {"turns": made.turns, "whole_turns": made.whole_turns}
        answer["left_out"] = {"turns_not_whole": made.turns - made.whole_turns}
        answer["handoff"] = made.text
        over = tokens_of(dumps(answer)) - (budget - 100)
        if over <= 0:
            return answer
        if most <= SMALLEST_BUDGET:
            (piece,) = fit([{"text": made.text}], room_of({**answer, "handoff": ""}, budget)).items
            answer["handoff"] = piece["text"]
            return answer
        most = max(SMALLEST_BUDGET, min(most - over, most * 9 // 10))


# ---- pieces --------------------------------------------------------------------------------------
BEFORE = "before:"
MOST_FOLDERS = 2000


def _room(base: Answer, wanted: a.Arguments) -> int:
    return room_of(base, wanted.max_tokens)


def _page(
    library: Library, name: str, rows: list[Answer], wanted: a.Arguments, limit: int
) -> Answer:
    """A page of a list: from the cursor on, `limit` rows at most."""
    start, _ = place_of(wanted.cursor)
    base: Answer = {"about": MARK, "total": len(rows)}
    window = fit(rows[: start + limit], _room(base, wanted), start=start)
    if window.after < len(rows):
        base["next_cursor"] = str(window.after)
    base["left_out"] = {"before": start, "after": max(0, len(rows) - window.after)}
    del library
    return {**base, name: window.items}


def _tail(
    library: Library, item: Item, said: list[Answer], wanted: a.Arguments, limit: int
) -> Answer:
    """The newest messages, or those before the cursor."""
    del library
    end = len(said)
    if wanted.cursor:
        end = min(end, place_of(wanted.cursor.removeprefix(BEFORE))[0])
    base: Answer = {"about": MARK, "context": item.brief(), "total": len(said)}
    rows = said[max(0, end - limit) if limit else 0 : end]
    window = fit_tail(rows, _room(base, wanted), end=len(rows))
    first = end - len(window.items)
    if first > 0:
        base["next_cursor"] = f"{BEFORE}{first}"
    base["left_out"] = {"before": first, "after": len(said) - end}
    if any("cut" in one for one in window.items):
        base["left_out"]["cut"] = "get_context_messages with first = its index gives it whole"
    return {**base, "messages": window.items}


def place_of(cursor: str) -> tuple[int, int]:
    """(index, character) of a cursor; whatever it says, it opens nothing."""
    head, _, tail = (cursor or "0").partition(":")
    if not (head.isascii() and head.isdigit() and len(head) < 12) or not (
        not tail or (tail.isascii() and tail.isdigit() and len(tail) < 12)
    ):
        raise SettingsError(
            "this is no cursor of this tool", hint="Use next_cursor of the answer before, or none",
            code="cursor",
        )  # fmt: skip
    return int(head), int(tail or 0)


def _chosen(library: Library, name: str, agent: str, project: str) -> Item:
    if name != "latest":
        return library.get(name)
    item = _latest(library, agent, project)
    if item is None:
        raise StoreError(
            "no such session is visible here", hint="list_contexts shows what is",
            code="not-found",
        )  # fmt: skip
    return item


def _latest(library: Library, agent: str, project: str) -> Item | None:
    fitting = (i for i in library.items if not agent or i.agent == agent)
    return next((i for i in fitting if _in(i, project)), None)


def _in(item: Item, project: str) -> bool:
    return not project or (item.project_path is not None and below(item.project_path, project))


def _is(file: str, path: str) -> bool:
    return file == path or file.endswith("/" + path.lstrip("/"))


def _when(library: Library, text: str) -> datetime | None:
    return parse_time(text, now=library.desk.now()) if text else None


def _between(item: Item, after: datetime | None, before: datetime | None) -> bool:
    if after is None and before is None:
        return True
    try:
        at = datetime.fromisoformat(item.updated_at)
    except ValueError:
        return False
    return (after is None or at >= after) and (before is None or at <= before)


TOOLS = (
    Tool(name="list_contexts", takes=a.ListContexts, run=list_contexts,
         text="Lists sessions of coding agents and other contexts, by last activity."),
    Tool(name="get_context_messages", takes=a.GetContextMessages, run=get_context_messages,
         text="Messages of one context, in order, a window at a time."),
    Tool(name="get_recent_activity", takes=a.GetRecentActivity, run=get_recent_activity,
         text="The session with the latest activity, with its last messages."),
    Tool(name="search_contexts", takes=a.SearchContexts, run=search_contexts,
         text="Full text over all sessions: what was said, done and put out."),
    Tool(name="get_session", takes=a.GetSession, run=get_session,
         text="One session, its newest messages: by id, or the latest of an agent or project."),
    Tool(name="whats_happening", takes=a.WhatsHappening, run=whats_happening,
         text="Who works on what now: sessions by project, their state and last words."),
    Tool(name="get_file_history", takes=a.GetFileHistory, run=get_file_history,
         text="Which sessions changed a file, and what had been asked for."),
    Tool(name="handoff", takes=a.Handoff, run=handoff,
         text="A document from which you can go on with a session of another agent."),
    Tool(name="fork_context", takes=a.ForkContext, run=writing.fork_context, writes=True,
         text="Makes a context of its own from another; the other one stays as it is."),
    Tool(name="append_note", takes=a.AppendNote, run=writing.append_note, writes=True,
         text="Adds a note to a context, for those who read it later. No agent's file changes."),
    Tool(name="switch_session", takes=a.SwitchSession, run=writing.switch_session, writes=True,
         text="Writes a session as one of another agent and gives the command that opens it."),
)  # fmt: skip

__all__ = ["TOOLS", "Tool", "UltraContextError", "call", "listed", "place_of"]
