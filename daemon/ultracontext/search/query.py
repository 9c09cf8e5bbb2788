"""Asks the index, and shows where in the text it matched.

Words that occur seldom are ranked by relevance (BM25) with a bonus for recency; words that occur
very often by recency alone, because ranking them would mean to read them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from ultracontext.errors import NotFoundError, SettingsError, StoreError
from ultracontext.model import Message
from ultracontext.redaction import Redactor
from ultracontext.search.fill import text_of
from ultracontext.search.index import KINDS, Index
from ultracontext.search.words import expression, plain_words
from ultracontext.store.base import ContextRow, SpaceStore

RANKED = 5000
"""Matches in a shard up to which all of them are ranked."""
TAKEN = 200
"""Matches of one shard that are looked at further."""
SNIPPET = 160
HALF_LIFE_DAYS = 30.0
ROLES: Mapping[str, tuple[str, ...]] = {
    "user": ("user",), "assistant": ("assistant", "reasoning", "tool_call"),
    "tool": ("tool_result",), "system": ("system",), "reasoning": ("reasoning",),
    "tool_call": ("tool_call",), "tool_result": ("tool_result",),
}  # fmt: skip
"""Which kinds of messages `--role` means."""


class Asked(msgspec.Struct, kw_only=True, frozen=True):
    """A search. `project` is a folder, with all below it; times are aware."""

    query: str
    agent: str | None = None
    projects: tuple[str, ...] | None = None
    """Folders; None = all projects."""
    since: datetime | None = None
    until: datetime | None = None
    role: str | None = None
    tool: str | None = None
    file: str | None = None
    """A path, or its end."""
    limit: int = 20


class Hit(msgspec.Struct, kw_only=True):
    """One message that matches. Times are ISO 8601 UTC."""

    context_id: str
    session_id: str
    agent: str
    project_path: str | None
    title: str | None
    message_id: str
    index: int
    role: str
    kind: str
    timestamp: str | None
    snippet: str
    tool: str | None = None


class _Match(msgspec.Struct, kw_only=True):
    score: float
    context_id: str
    session_id: str
    agent: str
    project_path: str | None
    title: str | None
    position: int
    part: int
    place: int
    kind: str
    tool: str | None
    time_ms: int | None
    digest: bytes


def find(
    index: Index, space: SpaceStore, redactor: Redactor, asked: Asked, *, now: datetime
) -> list[Hit]:
    """Hits, best first. Raises SettingsError for a query without a word, StoreError."""
    if index.space != space.space:
        raise ValueError("an index holds one space")
    match = expression(asked.query)
    if not match:
        raise SettingsError(
            "the query holds no word to search for", code="query",
            hint='Words are AND, "…" is a phrase, x* a prefix',
        )  # fmt: skip
    where, bound = _conditions(asked)
    found: list[_Match] = []
    for shard in index.shards():
        found += _in_shard(index, shard, match, where, bound, now)
    hits: list[Hit] = []
    sessions: dict[str, tuple[ContextRow, Any]] = {}
    for one in _distinct(sorted(found, key=lambda m: m.score, reverse=True)):
        if len(hits) >= asked.limit:
            break
        hit = _shown(one, space, redactor, asked.query, sessions)
        if hit is not None:
            hits.append(hit)
    return hits


def _in_shard(
    index: Index, shard: int, match: str, where: str, bound: dict[str, Any], now: datetime
) -> list[_Match]:
    table = f"shard_{shard:d}"
    joined = (
        f" FROM {table} f JOIN docs d ON d.id = f.rowid JOIN contexts c ON c.ref = d.context"
        " LEFT JOIN tools t ON t.ref = d.tool"
        f" WHERE {table} MATCH :match AND d.dead = 0 {where}"
    )
    ((count,),) = index.rows(
        f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH :match LIMIT :most)",  # noqa: S608
        {"match": match, "most": RANKED + 1},
    )
    columns = (
        "c.context_id, c.session_id, c.agent, c.project_path, c.title, d.position, d.part, d.place,"
        " d.kind, t.name, d.time_ms, d.digest"
    )
    if count <= RANKED:
        sql = f"SELECT bm25({table}) AS score, {columns}{joined} ORDER BY score LIMIT :taken"
    else:
        sql = f"SELECT -1.0, {columns}{joined} ORDER BY f.rowid DESC LIMIT :taken"
    rows = index.rows(sql, {"match": match, "taken": TAKEN, **bound})
    today = now.timestamp() * 1000
    return [
        _Match(
            score=-row[0] * (1.0 + _recency(row[11], today)), context_id=row[1],
            session_id=row[2], agent=row[3], project_path=row[4], title=row[5], position=row[6],
            part=row[7], place=row[8], kind=KINDS[row[9]], tool=row[10], time_ms=row[11],
            digest=row[12],
        )
        for row in rows
    ]  # fmt: skip


def _recency(time_ms: int | None, today_ms: float) -> float:
    """1 for now, a half after `HALF_LIFE_DAYS`, towards 0."""
    if time_ms is None:
        return 0.0
    days = max(0.0, (today_ms - time_ms) / 86_400_000)
    return float(0.5 ** (days / HALF_LIFE_DAYS))


def _conditions(asked: Asked) -> tuple[str, dict[str, Any]]:
    """SQL that narrows a search, and what it binds."""
    parts: list[str] = []
    bound: dict[str, Any] = {}

    def add(sql: str, **values: Any) -> None:
        parts.append(f" AND {sql}")
        bound.update(values)

    if asked.agent is not None:
        add("c.agent = :agent", agent=asked.agent)
    if asked.since is not None:
        add("d.time_ms >= :since", since=int(asked.since.timestamp() * 1000))
    if asked.until is not None:
        add("d.time_ms <= :until", until=int(asked.until.timestamp() * 1000))
    if asked.tool is not None:
        add("t.name = :tool COLLATE NOCASE", tool=asked.tool)
    if asked.role is not None:
        kinds = ROLES.get(asked.role, (asked.role,))
        names = [f":kind{number}" for number in range(len(kinds))]
        bound_kinds = dict(zip([n[1:] for n in names], map(KINDS.index, kinds), strict=True))
        add(f"d.kind IN ({', '.join(names)})", **bound_kinds)
    if asked.file is not None:
        add(
            "EXISTS (SELECT 1 FROM json_each(c.files) WHERE value = :file"
            " OR substr(value, -length(:tail)) = :tail)",
            file=asked.file, tail="/" + asked.file.lstrip("/"),
        )  # fmt: skip
    if asked.projects is not None:
        _add_projects(asked.projects, add)
    return "".join(parts), bound


def _add_projects(folders: tuple[str, ...], add: Any) -> None:
    if not folders:
        add("0")
        return
    sql: list[str] = []
    bound: dict[str, Any] = {}
    for number, folder in enumerate(folders):
        path = folder.rstrip("/")
        sql.append(
            f"c.project_path = :p{number} OR substr(c.project_path, 1, :n{number}) = :s{number}"
        )
        bound |= {f"p{number}": path or "/", f"s{number}": path + "/", f"n{number}": len(path) + 1}
    add(f"({' OR '.join(sql)})", **bound)


def _distinct(matches: list[_Match]) -> Iterator[_Match]:
    """The same message in a session and its forks counts once."""
    seen: set[tuple[bytes, str, int | None]] = set()
    for one in matches:
        key = (one.digest, one.kind, one.time_ms)
        if key not in seen:
            seen.add(key)
            yield one


def _shown(
    one: _Match,
    space: SpaceStore,
    redactor: Redactor,
    query: str,
    sessions: dict[str, tuple[ContextRow, Any]],
) -> Hit | None:
    """The hit with its text from the store; None when the session is gone since."""
    try:
        message = _message(one, space, redactor, sessions)
    except (NotFoundError, StoreError):
        return None
    if message is None:
        return None
    stamp = None
    if one.time_ms is not None:
        when = datetime.fromtimestamp(one.time_ms / 1000, UTC)
        stamp = when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return Hit(
        context_id=one.context_id, session_id=one.session_id, agent=one.agent,
        project_path=one.project_path, title=one.title, message_id=message.id, index=one.place,
        role=message.role, kind=one.kind, timestamp=stamp, tool=one.tool or None,
        snippet=snippet(text_of(message), query),
    )  # fmt: skip


def _message(
    one: _Match,
    space: SpaceStore,
    redactor: Redactor,
    sessions: dict[str, tuple[ContextRow, Any]],
) -> Message | None:
    from ultracontext.store.session import fed_from, reader_of

    if one.context_id not in sessions:
        row = space.find(one.context_id)
        sessions[one.context_id] = (row, None)
    row = sessions[one.context_id][0]
    reader = reader_of(row)
    for node, messages in fed_from(
        space, row, redactor, reader, first=one.position, until=one.position + 1
    ):
        if node is None:
            continue
        for message in messages:
            _, _, part = message.id.partition(".")
            if (int(part) if part.isdecimal() else 0) == one.part:
                return message
    return None


def snippet(text: str, query: str, width: int = SNIPPET) -> str:
    """About `width` characters around the first match, on one line, whole characters only."""
    folded = text.casefold()
    at = -1
    if len(folded) == len(text):
        for word in plain_words(query):
            at = folded.find(word.casefold())
            if at >= 0:
                break
    start = max(0, at - width // 3) if at > 0 else 0
    end = min(len(text), start + width)
    shown = " ".join(text[start:end].split())
    return ("…" if start else "") + shown + ("…" if end < len(text) else "")


def as_rows(hits: list[Hit]) -> list[dict[str, Any]]:
    """What `search --json` prints."""
    return [msgspec.to_builtins(hit) for hit in hits]
