"""Every setting, its default and its check. A section is a dataclass, a key one of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar

from ultracontext.errors import SettingsError
from ultracontext.settings.custom import (
    CustomRules,
    checked_allow,
    checked_keys,
    checked_rules,
)
from ultracontext.settings.times import parse_duration

Value = str | int | tuple[str, ...]
"""What a setting may be. Durations stay as written; `…_seconds` gives them as numbers."""

LOG_LEVELS = ("debug", "info", "warning", "error")
ENGINES = ("auto", "hyperscan", "aho")
STORE_SCHEMES = ("sqlite", "postgresql", "postgres", "http", "https", "memory")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureSettings:
    """What this machine captures and how it is looked for."""

    backfill: str = "all"
    """What lies there at the first start: `all`, `new` (nothing), or not older than a duration."""
    dedup_ttl: str = "30d"
    """How long a seen record is remembered in the dedup table."""
    watch: bool = True
    """Take file events; false means polling only, as on network file systems."""
    sweep: str = "30s"
    """Pause between two sweeps of the agents' folders."""
    agents: tuple[str, ...] = ()
    """Agents whose sessions are captured. Empty: all."""
    include: tuple[str, ...] = ()
    """Globs on the project's folder. Empty: all projects."""
    exclude: tuple[str, ...] = ()
    """Globs on the project's folder; they win over `include`."""
    exclude_sessions: tuple[str, ...] = ()
    """Native session ids, with their sub-agents."""

    def check(self) -> None:
        if self.backfill not in ("all", "new"):
            _check_backfill(self.backfill)
        parse_duration(self.dedup_ttl)
        if parse_duration(self.sweep) < 1:
            raise SettingsError("capture.sweep is below one second", hint="Write it like 30s")
        for glob in (*self.include, *self.exclude):
            if not glob.strip("/ "):
                raise SettingsError(f"{glob!r} matches every project", hint='Write "**" for all')

    @property
    def dedup_ttl_seconds(self) -> float:
        return parse_duration(self.dedup_ttl)

    @property
    def sweep_seconds(self) -> float:
        return parse_duration(self.sweep)


def _check_backfill(text: str) -> None:
    try:
        parse_duration(text)
    except SettingsError as error:
        raise SettingsError(
            f"capture.backfill is {text!r}", hint="Write all, new, or a duration such as 24h"
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """The store that commands read and edit."""

    url: str = ""
    """Empty: the local store."""

    def check(self) -> None:
        _check_scheme("store.url", self.url)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteSettings:
    """Where the daemon replicates to, and what."""

    url: str = ""
    include: tuple[str, ...] = ()
    """Globs on project path or git remote. Empty: nothing leaves this machine."""
    since: str = "now"
    """`now`, `all`, or a time."""

    def check(self) -> None:
        _check_scheme("remote.url", self.url)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpSettings:
    """What agents may read of each other."""

    projects: tuple[str, ...] = ("current",)
    """`current`: a client sees the project that it works in; `all`; or globs of folders."""
    allow_switch: bool = False
    """Whether an agent may continue a session in another one by itself."""

    def check(self) -> None:
        if not self.projects:
            raise SettingsError("mcp.projects is empty", hint='Use "current", "all" or globs')
        for one in self.projects:
            if one not in ("current", "all") and not one.startswith(("/", "~", "*")):
                raise SettingsError(
                    f"mcp.projects: {one!r} is no folder", hint="Begin a glob with /, ~ or *"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    """How long captured sessions stay."""

    days: int = 0
    """0: for ever."""
    disk_mb: int = 0
    """Room on disk that the store may take, in MB (1,000,000 bytes); 0: whatever it needs."""

    def check(self) -> None:
        if self.days < 0:
            raise SettingsError("retention.days is negative", hint="0 keeps everything")
        if self.disk_mb < 0:
            raise SettingsError("retention.disk_mb is negative", hint="0 sets no limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """The HTTP server, `ultracontext serve`."""

    port: int = 8787
    rate_limit: int = -1
    """Requests a second of one key. 0: no limit. -1: none on loopback, 100 elsewhere."""
    allowed_hosts: tuple[str, ...] = ()
    """Names that clients may call the server by, besides localhost and plain addresses."""
    redact_on_ingest: tuple[str, ...] = ()
    """Spaces in which what programs append is masked first. `*`: all."""

    def check(self) -> None:
        if not 0 <= self.port <= 65535:
            raise SettingsError("serve.port is no port", hint="0 to 65535; 0 takes any free one")
        if self.rate_limit < -1:
            raise SettingsError("serve.rate_limit is negative", hint="0 sets no limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """The log of the daemon."""

    level: str = "info"

    def check(self) -> None:
        if self.level not in LOG_LEVELS:
            raise SettingsError(
                f"log.level is {self.level!r}", hint=f"One of {', '.join(LOG_LEVELS)}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionSettings:
    """How secrets are looked for, and what a person adds to our rules or takes from them."""

    enabled: bool = True
    """False: nothing is masked. For a store that stays on this machine only."""
    engine: str = "auto"
    """`auto`: the fastest that runs here. Both find the same."""
    keys: tuple[str, ...] = ()
    """Names whose values are secrets, besides those that are known."""
    rules: tuple[str, ...] = ()
    """`[[redaction.rules]]`, each as JSON."""
    allow_values: tuple[str, ...] = ()
    """`[redaction.allow]` `values`: texts that are no secrets."""
    allow_paths: tuple[str, ...] = ()
    """`paths`: globs on agents' files whose records are not masked."""
    allow_rules: tuple[str, ...] = ()
    """`rules`: names of rules that are not applied."""

    def check(self) -> None:
        if self.engine not in ENGINES:
            raise SettingsError(
                f"redaction.engine is {self.engine!r}", hint=f"One of {', '.join(ENGINES)}"
            )
        checked_keys(self.keys)
        checked_rules(self.rules)
        checked_allow(self.allow_values, self.allow_paths)

    @property
    def custom(self) -> CustomRules | None:
        """What the person adds and takes away; None when that is nothing."""
        custom = CustomRules(
            rules=checked_rules(self.rules),
            keys=self.keys,
            allow_values=self.allow_values,
            allow_paths=self.allow_paths,
            allow_rules=self.allow_rules,
        )
        return custom or None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """One agent, as `[agents.<slug>]`."""

    roots: tuple[str, ...] = ()
    """Folders that hold its sessions. Empty: where the agent itself keeps them."""

    def check(self) -> None:
        for root in self.roots:
            if not root.startswith(("/", "~")):
                raise SettingsError(f"{root!r} is no absolute folder", hint="Begin it with / or ~")


Section = (
    CaptureSettings | StoreSettings | RemoteSettings | McpSettings | RetentionSettings
    | ServeSettings | LogSettings | RedactionSettings | AgentSettings
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings as they hold now."""

    capture: CaptureSettings = field(default_factory=CaptureSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    remote: RemoteSettings = field(default_factory=RemoteSettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    serve: ServeSettings = field(default_factory=ServeSettings)
    log: LogSettings = field(default_factory=LogSettings)
    redaction: RedactionSettings = field(default_factory=RedactionSettings)
    agents: Mapping[str, AgentSettings] = field(default_factory=dict)
    api_key: str | None = field(default=None, repr=False)
    """`ULTRACONTEXT_API_KEY`; never in a file of settings and never shown."""
    base_url: str | None = None
    """`ULTRACONTEXT_BASE_URL`: the SDK's server, and a shorthand for an http store."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Where each setting that is not a default comes from, by key."""

    SECTIONS: ClassVar[dict[str, type[Section]]] = {
        "capture": CaptureSettings,
        "store": StoreSettings,
        "remote": RemoteSettings,
        "mcp": McpSettings,
        "retention": RetentionSettings,
        "serve": ServeSettings,
        "log": LogSettings,
        "redaction": RedactionSettings,
    }

    def items(self) -> list[tuple[str, Value]]:
        """Every key and its value, agents without settings left out."""
        rows: list[tuple[str, Value]] = []
        for name in self.SECTIONS:
            section = getattr(self, name)
            rows += [(f"{name}.{f.name}", getattr(section, f.name)) for f in fields(section)]
        rows += [(f"agents.{slug}.roots", self.agents[slug].roots) for slug in sorted(self.agents)]
        return rows

    def check(self) -> None:
        """What no section can see alone."""
        if self.remote.url and not self.redaction.enabled:
            raise SettingsError(
                "redaction.enabled is false and remote.url is set",
                hint="Masking can be off for a local store only; unset one of them",
            )

    @property
    def engine(self) -> str | None:
        """Name of the redaction engine, None for the redactor's own choice."""
        return None if self.redaction.engine == "auto" else self.redaction.engine

    def reading_store(self) -> str:
        """URL of the store that reading and editing commands use, empty for the local one."""
        if self.base_url and self.store.url and self.base_url != self.store.url:
            raise SettingsError(
                "ULTRACONTEXT_STORE and ULTRACONTEXT_BASE_URL name different stores",
                hint="Unset one of them",
            )
        return self.store.url or self.base_url or ""


def _check_scheme(key: str, url: str) -> None:
    scheme, mark, _ = url.partition("://")
    if url and (not mark or scheme not in STORE_SCHEMES):
        raise SettingsError(
            f"{key} is no store URL",
            hint="Write it like sqlite:///path, postgresql://host/db or https://host",
        )
