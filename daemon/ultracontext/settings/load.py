"""Defaults < config.toml < environment < flags, put together into one `Settings`."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ultracontext.errors import SettingsError
from ultracontext.settings.schema import AgentSettings, Section, Settings, Value

PREFIX = "ULTRACONTEXT_"
SPECIAL = {
    "ULTRACONTEXT_STORE": "store.url",
    "ULTRACONTEXT_REMOTE": "remote.url",
    "ULTRACONTEXT_LOG": "log.level",
}
"""Variables with a short name of their own."""

_SLUG = re.compile(r"[a-z][a-z0-9-]*")


def load_settings(
    config_file: Path,
    env: Mapping[str, str],
    *,
    flags: Mapping[str, str] | None = None,
    agents: Collection[str] | None = None,
) -> Settings:
    """Settings as they hold now; raises SettingsError with the fault and the nearest right name.

    `agents` are the known slugs; None leaves the slugs unchecked.
    """
    found: dict[str, Value] = {}
    origins: dict[str, str] = {}
    layers: tuple[tuple[Mapping[str, Any], str], ...] = (
        (_flatten(read_config(config_file)), str(config_file)),
        (_from_environment(env), "environment"),
        (flags or {}, "flag"),
    )
    for layer, origin in layers:
        for key, value in layer.items():
            try:
                found[key] = parse_value(key, value, agents=agents)
            except SettingsError as error:
                raise _within(error, origin, env, key) from error
            origins[key] = origin
    return _build(found, origins, env)


def read_config(config_file: Path) -> dict[str, Any]:
    """The tables of config.toml, empty when there is none; raises SettingsError."""
    try:
        text = config_file.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise SettingsError(
            f"cannot read {config_file}: {reason}",
            hint="Mend it, or name another home by ULTRACONTEXT_HOME",
        ) from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"{config_file} is no TOML: {error}", hint="Mend that line or remove the file"
        ) from error


def parse_value(key: str, value: Any, *, agents: Collection[str] | None = None) -> Value:
    """The typed and checked value of one key; `value` comes from TOML or is text."""
    section, name = find_key(key, agents=agents)
    default = getattr(section(), name)
    typed = _typed(key, default, value)
    given: dict[str, Any] = {name: typed}
    section(**given).check()
    return typed


def find_key(key: str, *, agents: Collection[str] | None = None) -> tuple[type[Section], str]:
    """Section and field of a key; an unknown one is a SettingsError that names the nearest."""
    parts = key.split(".")
    section = Settings.SECTIONS.get(parts[0])
    if section is not None and len(parts) == 2 and parts[1] in _names(section):
        return section, parts[1]
    if parts[0] == "agents" and len(parts) == 3 and _SLUG.fullmatch(parts[1]):
        known = agents is None or parts[1] in agents
        if known and parts[2] in _names(AgentSettings):
            return AgentSettings, parts[2]
    raise SettingsError(f"unknown setting {key}", hint=_nearest(key, agents or ()))


def all_keys(agents: Collection[str] = ()) -> list[str]:
    keys = [f"{name}.{f}" for name, section in Settings.SECTIONS.items() for f in _names(section)]
    return keys + [f"agents.{slug}.{f}" for slug in agents for f in _names(AgentSettings)]


def _names(section: type[Section]) -> list[str]:
    return [f.name for f in fields(section)]


def _nearest(key: str, agents: Collection[str]) -> str:
    keys = all_keys(agents)
    close = get_close_matches(key, keys, n=1, cutoff=0.5)
    if not close:  # right name, wrong section
        tails = {known.rpartition(".")[2]: known for known in keys}
        close = [tails[tail] for tail in get_close_matches(key.rpartition(".")[2], tails, n=1)]
    return f"Did you mean {close[0]}?" if close else "`ultracontext config show` lists all"


def _typed(key: str, default: Value, value: Any) -> Value:
    if isinstance(default, tuple):
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
            return tuple(value)
        raise SettingsError(f"{key} is a list of texts", hint='Write it like ["a", "b"]')
    if isinstance(default, bool):
        return _truth(key, value)
    if isinstance(default, int):
        if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,18}\s*", value, re.ASCII):
            return int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise SettingsError(f"{key} is a whole number")
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return str(value).strip()
    raise SettingsError(f"{key} is a text")


def _truth(key: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "1", "yes", "on"):
        return True
    if isinstance(value, str) and value.strip().lower() in ("false", "0", "no", "off"):
        return False
    raise SettingsError(f"{key} is true or false")


def _flatten(tables: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, table in tables.items():
        if not isinstance(table, dict):
            flat[name] = table
        elif name == "agents":
            flat |= _flatten_agents(table)
        elif name == "redaction":
            flat |= _flatten_redaction(table)
        else:
            flat |= {f"{name}.{key}": value for key, value in table.items()}
    return flat


def _flatten_redaction(table: Mapping[str, Any]) -> dict[str, Any]:
    """`[redaction.allow]` as keys of its own, `[[redaction.rules]]` as a list of texts."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if key == "allow" and isinstance(value, dict):
            flat |= {f"redaction.allow_{name}": part for name, part in value.items()}
        elif key == "rules" and isinstance(value, list):
            flat["redaction.rules"] = [json.dumps(rule, default=str) for rule in value]
        else:
            flat[f"redaction.{key}"] = value
    return flat


def _flatten_agents(table: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for slug, keys in table.items():
        if not isinstance(keys, dict):
            flat[f"agents.{slug}"] = keys
            continue
        flat |= {f"agents.{slug}.{key}": value for key, value in keys.items()}
    return flat


def _from_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Keys given by variables. Empty ones count as not set; others of our prefix are left alone."""
    found: dict[str, str] = {}
    for variable, value in env.items():
        if variable in SPECIAL or not variable.startswith(PREFIX) or not value:
            continue
        section, mark, rest = variable.removeprefix(PREFIX).lower().partition("_")
        if section == "agents":
            slug, _, rest = rest.rpartition("_")
            found[f"agents.{slug.replace('_', '-')}.{rest}"] = value
        elif mark and section in Settings.SECTIONS:
            found[f"{section}.{rest}"] = value
    return found | {key: env[name] for name, key in SPECIAL.items() if env.get(name)}


def variable_of(key: str, env: Mapping[str, str]) -> str:
    """The variable that gives a key in this environment."""
    for name, special in SPECIAL.items():
        if special == key and env.get(name):
            return name
    return PREFIX + key.upper().replace(".", "_").replace("-", "_")


def _within(error: SettingsError, origin: str, env: Mapping[str, str], key: str) -> SettingsError:
    place = variable_of(key, env) if origin == "environment" else origin
    if origin == "flag":
        return error
    return SettingsError(f"{place}: {error.message}", hint=error.hint)


def _build(
    found: Mapping[str, Value], origins: Mapping[str, str], env: Mapping[str, str]
) -> Settings:
    sections: dict[str, dict[str, Any]] = {}
    agents: dict[str, dict[str, Any]] = {}
    for key, value in found.items():
        head, _, name = key.rpartition(".")
        if head.startswith("agents."):
            agents.setdefault(head.removeprefix("agents."), {})[name] = value
        else:
            sections.setdefault(head, {})[name] = value
    built: dict[str, Any] = {n: Settings.SECTIONS[n](**values) for n, values in sections.items()}
    settings = Settings(
        **built,
        agents={slug: AgentSettings(**values) for slug, values in agents.items()},
        api_key=env.get("ULTRACONTEXT_API_KEY") or None,
        base_url=env.get("ULTRACONTEXT_BASE_URL") or None,
        origins=dict(origins),
    )
    settings.check()
    return settings
