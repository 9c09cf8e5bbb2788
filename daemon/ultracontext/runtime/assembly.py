"""Puts the line together: store, redactor, agents, capture. Only this place knows them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath

from ultracontext import logs
from ultracontext.agents import known
from ultracontext.capture import CaptureEngine, CaptureOptions
from ultracontext.errors import SettingsError
from ultracontext.formats import AgentSpec
from ultracontext.paths import Paths
from ultracontext.redaction import Redactor, load_redactor
from ultracontext.redaction.fingerprint import load_secret
from ultracontext.settings import Settings
from ultracontext.store import Store, open_store
from ultracontext.store.base import LOCAL_SPACE, SpaceStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a daemon is started with."""

    paths: Paths
    settings: Settings
    env: Mapping[str, str]
    home: Path
    """The person's home folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The whole path of data, ready to run."""

    setup: Setup
    store: Store
    space: SpaceStore
    redactor: Redactor
    engine: CaptureEngine


@contextmanager
def capture_line(setup: Setup) -> Iterator[Line]:
    """Opens everything; the daemon lock must be held, because opening migrates the store."""
    place = local_store(setup)
    logs.adopt()
    secret = load_secret(setup.paths.secret_file)
    redactor = load_redactor(secret, cache_dir=setup.paths.cache_dir, engine=setup.settings.engine)
    store = open_store(place, migrate=True)
    try:
        space = store.within(LOCAL_SPACE)
        engine = CaptureEngine(
            store=space,
            redactor=redactor,
            secret=secret,
            agents=list(known().values()),
            roots=agent_roots(setup, known()),
            options=capture_options(setup.settings),
        )
        yield Line(setup=setup, store=store, space=space, redactor=redactor, engine=engine)
    finally:
        store.close()


def local_store(setup: Setup) -> str | Path:
    """The SQLite store that capture writes to; any other kind is refused."""
    url = setup.settings.store.url
    if not url:
        return setup.paths.store_file
    if not url.startswith("sqlite://"):
        raise SettingsError(
            "the daemon writes to a local SQLite store only, and store.url names another kind",
            hint="Leave store.url to the reading commands; set remote.url (ULTRACONTEXT_REMOTE) to"
            " have the daemon replicate there",
        )
    return url


def capture_options(settings: Settings) -> CaptureOptions:
    capture = settings.capture
    return CaptureOptions(
        backfill=capture.backfill,
        dedup_ttl_seconds=capture.dedup_ttl_seconds,
        sweep_seconds=capture.sweep_seconds,
    )


def agent_roots(setup: Setup, agents: Mapping[str, AgentSpec]) -> dict[str, list[Path]]:
    """Folders of each agent: those of the settings, else where the agent itself keeps them."""
    roots: dict[str, list[Path]] = {}
    for slug, spec in agents.items():
        chosen = setup.settings.agents.get(slug)
        if chosen is not None and chosen.roots:
            roots[slug] = [_expand(text, setup.home) for text in chosen.roots]
        else:
            found = spec.roots(setup.env, PurePath(setup.home))
            roots[slug] = list(dict.fromkeys(Path(root) for root in found))
    return roots


def _expand(text: str, home: Path) -> Path:
    return home / text[2:] if text.startswith("~/") else Path(text).expanduser()
