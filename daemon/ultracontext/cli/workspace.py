"""What every command starts from: environment, paths, settings; and the store to read."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ultracontext import logs
from ultracontext.errors import NotFoundError, SettingsError, StoreError
from ultracontext.paths import Paths, resolve_paths
from ultracontext.settings import Settings, load_settings

if TYPE_CHECKING:
    from ultracontext.capture.whereabouts import Places
    from ultracontext.redaction import Redactor
    from ultracontext.store.base import ContextRow, SpaceStore


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """The surroundings of one command."""

    env: Mapping[str, str]
    home: Path

    @cached_property
    def paths(self) -> Paths:
        return resolve_paths(self.env, self.home)

    @cached_property
    def settings(self) -> Settings:
        return self.settings_with({})

    def settings_with(
        self, flags: Mapping[str, str], *, agents: Collection[str] | None = None
    ) -> Settings:
        return load_settings(self.paths.config_file, self.env, flags=flags, agents=agents)

    @contextmanager
    def reading(self, store: str | Path | None = None) -> Iterator[SpaceStore | None]:
        """The space to read, beside a running daemon; None when nothing was captured yet."""
        from ultracontext.store import open_store
        from ultracontext.store.base import LOCAL_SPACE

        logs.adopt_if_loaded()
        url = store or self.settings.reading_store()
        try:
            opened = open_store(url or self.paths.store_file, mode="ro")
        except StoreError as error:
            named = url and url != self.paths.store_file
            if error.code != "store-missing" or named:
                raise
            opened = None
        if opened is None:
            yield None
            return
        try:
            yield opened.within(LOCAL_SPACE)
        finally:
            opened.close()

    @cached_property
    def redactor(self) -> Redactor:
        """Today's rules; what is read from the store is masked by them once more."""
        from ultracontext.redaction.opening import open_redactor

        return open_redactor(self.paths, self.settings)

    @cached_property
    def rule_set(self) -> int:
        """The number of today's rules, without loading them where it is known."""
        from ultracontext.redaction.opening import known_rule_set

        known = known_rule_set(self.paths, self.settings)
        return self.redactor.rule_set if known is None else known

    def masked(self, row: ContextRow) -> ContextRow:
        """A row of a list, masked again where older rules wrote it."""
        from ultracontext.store.masking import masked_if_behind

        return masked_if_behind(row, self.rule_set, lambda: self.redactor)

    def places(self) -> Places:
        """Looks up where captured sessions are now."""
        from ultracontext.agents import known
        from ultracontext.capture.roots import agent_roots
        from ultracontext.capture.whereabouts import Places

        return Places(known(), agent_roots(self.settings, self.env, self.home, known()))

    def absolute(self, folder: str) -> str:
        """A folder as the person wrote it, made absolute; links in it are kept."""
        return os.path.abspath(os.path.expanduser(folder))  # noqa: PTH100, PTH111


def workspace() -> Workspace:
    """The surroundings of this process."""
    home = os.environ.get("HOME", "")
    if not home.startswith("/"):
        try:
            home = str(Path.home())
        except RuntimeError as error:
            raise SettingsError(
                "the home folder of this user is not known", hint="Set HOME"
            ) from error
    return Workspace(env=os.environ, home=Path(home))


def nothing_captured() -> NotFoundError:
    return NotFoundError(
        "nothing was captured yet", hint="Run `ultracontext daemon run --once`", code="not-found"
    )
