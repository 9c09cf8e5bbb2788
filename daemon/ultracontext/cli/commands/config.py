"""`config`: show, get and set settings; where the file is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracontext.cli import output
from ultracontext.cli.commands.key import app as key_app
from ultracontext.cli.group import command_app
from ultracontext.cli.workspace import Workspace, workspace
from ultracontext.runtime.health import without_password
from ultracontext.settings import Value, find_key, variable_of

if TYPE_CHECKING:
    from ultracontext.settings import Settings

app = command_app(help="Show, get and set settings.")
app.add_typer(key_app, name="key")

RULES = frozenset(f"capture.{k}" for k in ("agents", "include", "exclude", "exclude_sessions"))
"""Settings that can leave out what is captured already."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("show")
def show(json: Json = False) -> None:
    """All settings as they hold now, and where each comes from."""
    from ultracontext.cli.looked import roots_in_use

    place = workspace()
    settings = place.settings_with({}, agents=_agents())
    chosen = dict(settings.items())
    values = {**chosen, **{key: chosen.get(key, ()) for key in map(_roots_key, _agents())}}
    if json:
        output.write_json({key: _shown(key, value) for key, value in values.items()})
        return
    found = {_roots_key(slug): roots for slug, roots in roots_in_use(place, settings).items()}
    for key, value in values.items():
        origin = settings.origins.get(key, "default")
        source = variable_of(key, place.env) if origin == "environment" else origin
        if origin == "default":
            source = f"looks in {', '.join(found[key])}" if key in found else ""
        mark = f"  # {source}" if source else ""
        output.write(output.one_line(f"{key} = {_toml(_shown(key, value))}{mark}"))
    if settings.api_key:
        output.write("# ULTRACONTEXT_API_KEY is set")


@app.command("get")
def get(key: Annotated[str, typer.Argument(metavar="KEY")], json: Json = False) -> None:
    """One setting as it holds now."""
    agents = _agents()
    section, name = find_key(key, agents=agents)
    values = dict(workspace().settings_with({}, agents=agents).items())
    value = _shown(key, values.get(key, getattr(section(), name)))
    if json:
        output.write_json({"key": key, "value": value})
    elif isinstance(value, tuple):
        for item in value:
            output.write(output.one_line(item))
    else:
        output.write(output.one_line(value if isinstance(value, str) else _toml(value)))


@app.command("set")
def put(
    key: Annotated[str, typer.Argument(metavar="KEY")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="Lists by comma.")],
    json: Json = False,
) -> None:
    """Writes one setting to config.toml; everything else in it stays as it stands."""
    from ultracontext.settings.edit import set_value

    place = workspace()
    find_key(key, agents=_agents())
    place.paths.ensure()
    set_value(place.paths.config_file, key, value, agents=_agents())
    settings = place.settings_with({})
    now = dict(settings.items()).get(key)
    if json:
        output.write_json({"key": key, "value": _shown(key, now if now is not None else value)})
    elif settings.origins.get(key) == "environment":
        output.note(f"Written, but {variable_of(key, place.env)} is set and wins.")
    else:
        output.note("Written. A running daemon takes it within seconds.")
    _tell_missing(place, settings, key)
    if key in RULES:
        _tell_captured(place, settings)


@app.command("path")
def path(json: Json = False) -> None:
    """Where config.toml and everything else lies."""
    paths = workspace().paths
    places = {
        "config": paths.config_file,
        "store": paths.store_file,
        "state": paths.state_dir,
        "socket": paths.socket,
        "log": paths.log_file,
    }
    if json:
        output.write_json({name: str(place) for name, place in places.items()})
    else:
        output.write(str(paths.config_file))


def _tell_captured(place: Workspace, settings: Settings) -> None:
    """A new rule leaves what is captured where it is, and says how much that is."""
    from ultracontext.runtime.ignored import HINT, captured_ignored, told
    from ultracontext.runtime.rules import capture_rules

    with place.reading(place.paths.store_file) as space:
        count = (
            0
            if space is None
            else captured_ignored(
                space, capture_rules(settings, place.home), settings.capture.agents
            )
        )
    if count:
        output.note(f"{told(count)}. {HINT}.")


def _roots_key(slug: str) -> str:
    return f"agents.{slug}.roots"


def _tell_missing(place: Workspace, settings: Settings, key: str) -> None:
    """A folder may be made later, so it is written, and said."""
    from ultracontext.capture.roots import missing_roots

    for slug, folder in missing_roots(settings, place.home):
        if key == _roots_key(slug):
            output.note(output.one_line(f"{folder} is no folder yet: nothing is read there."))


def _agents() -> list[str]:
    from ultracontext.agents import known

    return list(known())


def _shown(key: str, value: Any) -> Value:
    return without_password(value) if key.endswith(".url") and isinstance(value, str) else value


def _toml(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
