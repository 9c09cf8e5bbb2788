"""Changes one key of config.toml and leaves everything else in it, comments too, as it stands."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Mapping, MutableMapping
from pathlib import Path
from typing import Any, cast

from ultracontext.errors import SettingsError
from ultracontext.settings.load import parse_value, read_config
from ultracontext.settings.schema import Value


def set_value(
    config_file: Path, key: str, text: str, *, agents: Collection[str] | None = None
) -> None:
    """Writes a key; raises SettingsError, and then the file is unchanged."""
    set_values(config_file, {key: text}, agents=agents)


def set_values(
    config_file: Path, texts: Mapping[str, str], *, agents: Collection[str] | None = None
) -> None:
    """Writes all of the keys in one step, or none; raises SettingsError."""
    import tomlkit

    values = {key: parse_value(key, text, agents=agents) for key, text in texts.items()}
    read_config(config_file)  # a broken file is reported, never written over
    source = config_file.read_text("utf-8") if config_file.exists() else ""
    document = tomlkit.parse(source)
    for key, value in values.items():
        _put(document, key, value, config_file)
    _replace(config_file, tomlkit.dumps(document))


def _put(document: MutableMapping[str, Any], key: str, value: Value, config_file: Path) -> None:
    import tomlkit

    table = document
    *names, last = key.split(".")
    for name in names:
        if name not in table:
            table[name] = tomlkit.table(is_super_table=name == "agents")
        table = cast("MutableMapping[str, Any]", table[name])
        if not isinstance(table, MutableMapping):
            raise SettingsError(f"{name} in {config_file} is no table")
    table[last] = list(value) if isinstance(value, tuple) else value


def _replace(config_file: Path, text: str) -> None:
    target = Path(os.path.realpath(config_file))  # a linked file of settings stays a link
    try:
        handle, name = tempfile.mkstemp(prefix=".config-", dir=target.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SettingsError(f"cannot write {config_file}: {reason}", code="home") from error
