"""How the daemon is: the answer of `status`, with or without one that runs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ultracontext.errors import StoreError, UltraContextError
from ultracontext.paths import Paths
from ultracontext.settings import Settings

if TYPE_CHECKING:
    from ultracontext.store.base import SpaceStore

LOW_DISK_BYTES = 256 << 20
BUDGET_SHARE = 0.8
DAMAGED, MISSING_ROOT = "store-corrupt", "root-missing"


def problem(code: str, message: str, hint: str = "") -> dict[str, str]:
    return {"code": code, "message": message, "hint": hint}


def stopped(paths: Paths, settings: Settings, home: Path, dedup: dict[str, Any]) -> dict[str, Any]:
    """The answer when no daemon runs. What only a running one knows is null."""
    return {
        "daemon": {"running": False, "pid": None, "version": None},
        "capture": {
            "paused": False,
            "paused_projects": [],
            "watcher": "off",
            "backlog_bytes": None,
            "backlog_seconds": None,
        },
        "redaction": masking(settings, None, None, None),
        "remote": remote(settings),
        "dedup": dedup,
        "store": store(paths),
        "problems": standing_problems(paths, settings, home),
    }


def masking(
    settings: Settings, space: SpaceStore | None, rule_set: int | None, rules: int | None
) -> dict[str, Any]:
    """`behind`: stored rows that older rules masked; null when it is not known, or masking off."""
    enabled, behind = settings.redaction.enabled, None
    if enabled and space is not None and rule_set is not None:
        try:
            behind = space.behind(rule_set)
        except StoreError:
            behind = None
    return {"enabled": enabled, "rules": rules if enabled else 0, "behind": behind}


def masking_problems(settings: Settings) -> list[dict[str, str]]:
    if settings.redaction.enabled:
        return []
    return [
        problem(
            "redaction-off",
            "masking is off: secrets are stored as they are",
            "Turn it on by `ultracontext config set redaction.enabled true`, and restart",
        )
    ]


def remote(settings: Settings) -> dict[str, Any]:
    """Nothing is replicated yet, so nothing lags."""
    url = settings.remote.url
    return {
        "url": without_password(url) or None,
        "lag_events": 0,
        "lag_seconds": 0.0,
        "error": "replication is not available yet" if url else None,
    }


def remote_problems(settings: Settings) -> list[dict[str, str]]:
    if not settings.remote.url:
        return []
    return [
        problem(
            "remote-unavailable",
            "remote.url is set, but this version does not replicate yet",
            "Everything stays in the local store until then",
        )
    ]


def standing_problems(paths: Paths, settings: Settings, home: Path) -> list[dict[str, str]]:
    """What is wrong whether a daemon runs or not."""
    return [
        *root_problems(settings, home),
        *masking_problems(settings),
        *remote_problems(settings),
        *disk_problems(paths),
        *budget_problems(paths, settings),
        *agent_problems(),
    ]


def root_problems(settings: Settings, home: Path) -> list[dict[str, str]]:
    """Folders that the settings name for an agent's sessions and that are not there."""
    from ultracontext.capture.roots import missing_roots

    return [
        problem(
            MISSING_ROOT,
            f"agents.{slug}.roots names {folder}, which is no folder",
            "Mend it by `ultracontext config set`, or make the folder",
        )
        for slug, folder in missing_roots(settings, home)
    ]


def ignored_problems(count: int) -> list[dict[str, str]]:
    """A rule that came after the sessions that it names."""
    from ultracontext.runtime.ignored import HINT, told

    return [problem("captured-ignored", told(count), HINT)] if count else []


def paused_projects(space: SpaceStore) -> list[str]:
    """Folders that stay paused over restarts."""
    from ultracontext.capture.admission import PAUSED

    return sorted(space.noted(PAUSED) or [])


def agent_problems() -> list[dict[str, str]]:
    """Third parties' agents that cannot be used, or not wholly."""
    from ultracontext.agents import broken

    return [
        problem(
            "agent-broken",
            f"the agent of the entry point {found.name} is broken: {found.problem}",
            f"Update or remove {found.distribution or 'its package'}",
        )
        for found in broken()
    ]


def store(paths: Paths) -> dict[str, Any]:
    size = 0
    for suffix in ("", "-wal"):
        try:
            size += paths.store_file.with_name(paths.store_file.name + suffix).stat().st_size
        except OSError:
            continue
    return {"path": str(paths.store_file), "bytes": size}


def damage_problems(
    paths: Paths, found: list[dict[str, str]], damaged: bool
) -> list[dict[str, str]]:
    """Damage that was met at any time, unless it is among the problems already."""
    from ultracontext.store.base import MEND

    if not damaged or any(one["code"] == DAMAGED for one in found):
        return []
    return [
        problem(
            DAMAGED,
            f"the store {paths.store_file} is damaged; what is stored may be read in part only",
            MEND,
        )
    ]


def disk_problems(paths: Paths) -> list[dict[str, str]]:
    try:
        free = shutil.disk_usage(paths.store_file.parent).free
    except OSError:
        return []
    if free >= LOW_DISK_BYTES:
        return []
    return [
        problem(
            "disk-low",
            f"only {free >> 20} MiB are free where the store lies",
            f"Make room on the disk of {paths.store_file.parent}",
        )
    ]


def budget_problems(paths: Paths, settings: Settings) -> list[dict[str, str]]:
    """Told while there is still time: from 80 % of the room that the person gave the store."""
    limit = settings.retention.disk_mb * 1_000_000
    used = store(paths)["bytes"]
    if not limit or used < limit * BUDGET_SHARE:
        return []
    over = "all" if used >= limit else f"{used * 100 // limit} %"
    return [
        problem(
            "disk-budget",
            f"the store takes {over} of the {settings.retention.disk_mb} MB of retention.disk_mb",
            "Raise it by `ultracontext config set retention.disk_mb`, or capture less; nothing is"
            " removed for it",
        )
    ]


def no_dedup(error: UltraContextError | None = None) -> dict[str, Any]:
    """The dedup part when there is no store, or none that can be read."""
    del error
    return {"rows": 0, "hits": 0, "purged_at": None}


def without_password(url: str) -> str:
    """A URL that may be shown: user and host stay, the password does not."""
    scheme, mark, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    if at:
        name = user.partition(":")[0]
        authority = f"{name}:***@{host}" if ":" in user else f"{name}@{host}"
    path, question, _ = path.partition("?")
    return scheme + mark + authority + slash + path + ("?…" if question else "")


def own_memory_bytes() -> int | None:
    """Resident memory of this process, where the kernel tells it."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  # one line, read at each status
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
