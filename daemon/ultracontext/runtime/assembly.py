"""Puts the line together: store, redactor, agents, capture. Only this place knows them all."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ultracontext import logs
from ultracontext.agents import known
from ultracontext.capture import CaptureEngine, CaptureOptions
from ultracontext.capture.roots import agent_roots
from ultracontext.errors import SettingsError
from ultracontext.formats import AgentSpec
from ultracontext.paths import Paths
from ultracontext.redaction import Redactor
from ultracontext.redaction.fingerprint import load_secret
from ultracontext.redaction.opening import open_redactor
from ultracontext.runtime.audit import note_redaction
from ultracontext.runtime.key import claim
from ultracontext.runtime.rules import capture_rules
from ultracontext.settings import Settings
from ultracontext.store import Store, open_store, parse_store_url
from ultracontext.store.base import LOCAL_SPACE, SpaceStore

GC_OBJECTS = 50_000
"""New objects between two looks for cycles: records make many and no cycles; 5 % of a backfill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a daemon is started with."""

    paths: Paths
    settings: Settings
    env: Mapping[str, str]
    home: Path
    """The person's home folder."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Settings of the command line, which hold over a reload too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The whole path of data, ready to run."""

    setup: Setup
    store: Store
    space: SpaceStore
    redactor: Redactor
    engine: CaptureEngine
    roots: Mapping[str, Sequence[Path]]
    """Folders of each agent."""


@contextmanager
def capture_line(setup: Setup) -> Iterator[Line]:
    """Opens everything; the daemon lock must be held, because opening migrates the store."""
    place = local_store(setup)
    logs.adopt()
    secret = load_secret(setup.paths.secret_file)
    redactor = open_redactor(setup.paths, setup.settings, secret)
    _note_masking(setup)
    store = open_store(place, migrate=True)
    try:
        space = store.within(LOCAL_SPACE)
        claim(space, secret)
        if setup.settings.redaction.enabled:
            space.remask_names(redactor)  # before capture reads them
        roots = agent_roots(setup.settings, setup.env, setup.home, known())
        engine = CaptureEngine(
            store=space,
            redactor=redactor,
            secret=secret,
            agents=captured_agents(setup.settings),
            roots=roots,
            options=capture_options(setup.settings, setup.home),
        )
        with _few_collections():
            yield Line(
                setup=setup, store=store, space=space, redactor=redactor, engine=engine, roots=roots
            )
    finally:
        store.close()


@contextmanager
def _few_collections() -> Iterator[None]:
    """The collector looks seldom, and not at what the start made: rules, tables, modules."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _note_masking(setup: Setup) -> None:
    """Into the audit log, when masking is off or on again."""
    settings = setup.settings
    origin = settings.origins.get("redaction.enabled", "default")
    note_redaction(setup.paths, enabled=settings.redaction.enabled, origin=origin, pid=os.getpid())


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


def store_path(setup: Setup) -> Path | None:
    """The file that capture writes to."""
    scheme, path = parse_store_url(local_store(setup))
    return path if scheme == "sqlite" else None


def captured_agents(settings: Settings) -> list[AgentSpec]:
    """All known ones, or those that `capture.agents` names."""
    chosen = settings.capture.agents
    for slug in chosen:
        if slug not in known():
            names = ", ".join(known())
            raise SettingsError(f"capture.agents: no agent {slug!r}", hint=f"Known agents: {names}")
    return [spec for slug, spec in known().items() if not chosen or slug in chosen]


def capture_options(settings: Settings, home: Path) -> CaptureOptions:
    capture = settings.capture
    return CaptureOptions(
        backfill=capture.backfill,
        dedup_ttl_seconds=capture.dedup_ttl_seconds,
        sweep_seconds=capture.sweep_seconds,
        watch=capture.watch,
        rules=capture_rules(settings, home),
    )
