"""The row that makes a thread listed (FORMAT.md section 6; schemas of 0.125 and 0.171, runs of
2026-11).

0.171 lists from `threads` alone once `backfill_state` is complete; a plain insert was proven. A
home without the database, or with an unfinished backfill, reads the files at the next start and
needs no row.
"""

from __future__ import annotations

import tomllib
from typing import Any

from ultracontext.agents.codex.listing import CONFIG, DATABASE, FILLED, PROVIDER
from ultracontext.errors import WriteRefusedError
from ultracontext.formats import Conversation, Lookup, SqlRows, Step, Target

COLUMNS, NEWEST = "columns", "newest"
LOOKUPS = (
    Lookup(
        name=COLUMNS, path=DATABASE,
        sql="SELECT name, \"notnull\", dflt_value, pk FROM pragma_table_info('threads')",
    ),
    Lookup(
        name=NEWEST, path=DATABASE,
        sql="SELECT sandbox_policy, approval_mode FROM threads ORDER BY updated_at DESC LIMIT 1",
    ),
    Lookup(
        name=FILLED, path=DATABASE,
        sql="SELECT 1 FROM backfill_state WHERE status = 'complete'",
    ),
    Lookup(name=CONFIG, path="config.toml"),
)  # fmt: skip
LONGEST_TITLE = 2000


def row(
    conversation: Conversation, target: Target, path: str, version: str
) -> tuple[list[Step], list[str]]:
    """The insert, and notes for the person. Raises WriteRefusedError for a table that we do not
    know well enough."""
    columns = target.found.get(COLUMNS)
    if not columns or not target.found.get(FILLED):
        return [], []
    values = _values(conversation, target, path, version)
    unknown = [name for name, need, default, _ in columns if need and default is None]
    unknown = [name for name in unknown if name not in values]
    if unknown:
        raise WriteRefusedError(
            f"the index of Codex has columns that are new to us: {', '.join(unknown)}",
            code="refused", hint="Move to a version of UltraContext that knows them",
        )  # fmt: skip
    known = {name for name, *_ in columns}
    kept = {name: value for name, value in values.items() if name in known}
    names = ", ".join(kept)
    marks = ", ".join(f":{name}" for name in kept)
    named = {"id": target.session_id}
    step = SqlRows(
        path=DATABASE,
        do=((f"INSERT INTO threads ({names}) VALUES ({marks})", kept),),  # noqa: S608
        undo=(("DELETE FROM threads WHERE id = :id", named),),
        check=("SELECT 1 FROM threads WHERE id = :id", named),
    )
    return [step], []


def _values(conversation: Conversation, target: Target, path: str, version: str) -> dict[str, Any]:
    first = next(conversation.entries()).timestamp
    prompt = next((t.prompt.text for t in conversation.turns if not t.prompt.note), "")
    shown = " ".join(prompt.split())[:LONGEST_TITLE] or conversation.title or "…"
    sandbox, approval = _policies(target)
    now_ms = int(target.now.timestamp() * 1000)
    first_ms = int(first.timestamp() * 1000)
    return {
        "id": target.session_id, "rollout_path": str(target.root / path),
        "created_at": first_ms // 1000, "updated_at": now_ms // 1000, "source": "cli",
        "model_provider": configured(target.found.get(CONFIG)), "cwd": conversation.cwd,
        "title": conversation.title or shown, "sandbox_policy": sandbox,
        "approval_mode": approval, "tokens_used": 0, "has_user_event": 1, "archived": 0,
        "git_sha": conversation.commit, "git_branch": conversation.git_branch,
        "git_origin_url": conversation.git_remote, "cli_version": version,
        "first_user_message": shown, "preview": shown, "memory_mode": "enabled",
        "created_at_ms": first_ms, "updated_at_ms": now_ms, "recency_at": now_ms // 1000,
        "recency_at_ms": now_ms, "thread_source": "user", "history_mode": "legacy",
        "originator": "codex_cli_rs",
    }  # fmt: skip


def _policies(target: Target) -> tuple[str, str]:
    """Those of the newest thread; a resumed one gets the person's own anyway."""
    rows = target.found.get(NEWEST)
    if rows and all(isinstance(value, str) for value in rows[0]):
        return rows[0][0], rows[0][1]
    return '{"type":"read-only"}', "on-request"


def configured(text: Any) -> str:
    """The provider that the picker filters by."""
    try:
        named = tomllib.loads(text or "").get("model_provider", PROVIDER)
    except (tomllib.TOMLDecodeError, TypeError, RecursionError):
        return PROVIDER
    return named if type(named) is str else PROVIDER
