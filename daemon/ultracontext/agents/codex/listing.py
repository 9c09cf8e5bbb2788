"""Whether Codex lists a thread (FORMAT.md section 6, runs of 0.45 to 0.171). It deletes none.

0.171 lists from `threads` of `state_5.sqlite` once its `backfill_state` is complete; without that
database it reads the files. A thread without a prompt, one made by `codex exec`, and one of another
model provider than `config.toml` names are not listed; `archived_sessions` are set aside.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from ultracontext.agents.codex.layout import IMPORTS_ROLE, NAMES_ROLE
from ultracontext.formats import Listing, ListingFacts, Lookup, SourceFacts

INDEX, FILLED, CONFIG = "index", "filled", "config"
DATABASE = "state_5.sqlite"
PROVIDER = "openai"
"""When config.toml names none."""
SHOWN = frozenset({"", "cli", "vscode"})
"""Sources that the picker shows; an absent one counts as `vscode`."""


def lookups(source: SourceFacts, path: PurePosixPath) -> Sequence[Lookup]:
    del source, path
    thread = "SELECT archived FROM threads WHERE id = :session_id"
    filled = "SELECT 1 FROM backfill_state WHERE status = 'complete'"
    return (
        Lookup(name=INDEX, path=DATABASE, sql=thread),
        Lookup(name=FILLED, path=DATABASE, sql=filled),
        Lookup(name=CONFIG, path="config.toml"),
    )


def listing(asked: ListingFacts) -> Listing:
    if asked.source.role in (NAMES_ROLE, IMPORTS_ROLE):
        return Listing(gone=True)  # it names the thread, and does not hold it
    return Listing(hidden=_hidden(asked))


def _hidden(asked: ListingFacts) -> str | None:
    if asked.facts.relation == "subagent":
        return None
    if "archived" in asked.source.extra:
        return "it is archived; `codex unarchive` brings it back"
    traits = asked.facts.traits
    if "prompted" not in traits:
        return "it holds no prompt that the screen was told of"
    source = traits.get("source", "")
    if source not in SHOWN:
        return f"its source is {source}, which the picker leaves out"
    return _provider(asked) or _index(asked)


def _provider(asked: ListingFacts) -> str | None:
    provider = asked.facts.traits.get("provider")
    configured = _configured(asked.found.get(CONFIG))
    if provider is None or configured is None or provider == configured:
        return None
    return f"its model provider is {provider}, the configured one {configured}"


def _configured(text: Any) -> str | None:
    """Name of the provider in config.toml, None when that file cannot be read."""
    if text is None:
        return PROVIDER
    try:
        named = tomllib.loads(text).get("model_provider", PROVIDER)
    except (tomllib.TOMLDecodeError, TypeError, RecursionError):
        return None
    return named if type(named) is str else PROVIDER


def _index(asked: ListingFacts) -> str | None:
    rows = asked.found.get(INDEX)
    if rows:
        return "Codex's index holds it as archived" if rows[0][0] else None
    if rows is not None and asked.found.get(FILLED):
        return "Codex's index does not hold it; `codex resume ID` adds it"
    return None
