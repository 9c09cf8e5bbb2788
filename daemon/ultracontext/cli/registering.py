"""Puts our MCP server into an agent's own settings file, as text: what else stands there stays byte
for byte, and what was put in can be taken out again."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ultracontext.cli.workspace import Workspace
from ultracontext.errors import WriteRefusedError

if TYPE_CHECKING:
    from ultracontext.formats import Tooling

NAME = "ultracontext"
LARGEST = 64 << 20


class Done(msgspec.Struct, kw_only=True):
    """What became of one agent's file."""

    agent: str
    path: str
    outcome: str
    """`added`, `unchanged`, `removed`, `not there`, `no MCP`, or a reason why not."""
    backup: str | None = None

    def as_row(self) -> dict[str, Any]:
        return msgspec.structs.asdict(self)


class Put(msgspec.Struct, kw_only=True):
    """What we put into one file: kept below our state."""

    path: str
    fragment: str
    created: bool
    """The file was not there before."""
    backup: str | None = None


def taken_out(place: Workspace) -> list[Done]:
    """Every entry that we put anywhere is removed; nothing is made where there was none."""
    if not _notes(place).exists():
        return []
    return [
        one
        for one in register(place, sorted(_load(place)), remove=True)
        if one.outcome != "not there"
    ]


def register(place: Workspace, agents: list[str], *, remove: bool) -> list[Done]:
    """Adds or removes the server, agent by agent. One that cannot be changed is told."""
    from ultracontext.agents import known

    place.paths.ensure()
    kept = _load(place)
    done: list[Done] = []
    for slug in agents:
        tooling = known()[slug].tooling
        if tooling is None:
            done.append(Done(agent=slug, path="", outcome="no MCP"))
            continue
        path = Path(os.path.realpath(tooling.file(place.env, place.home)))
        try:
            one = (
                _out(kept, slug, path, tooling) if remove else _in(place, kept, slug, path, tooling)
            )
        except (OSError, WriteRefusedError) as error:
            text = error.message if isinstance(error, WriteRefusedError) else error.strerror
            one = Done(agent=slug, path=str(path), outcome=f"refused, {text}")
        done.append(one)
        _save(place, kept)
    return done


def _in(place: Workspace, kept: dict[str, Put], slug: str, path: Path, tooling: Tooling) -> Done:
    before = _read(path)
    if not path.parent.is_dir():
        return Done(agent=slug, path=str(path), outcome="not there")
    entry = _entry(place, tooling)
    found = _servers(before, tooling).get(NAME)
    if found == entry:
        return Done(agent=slug, path=str(path), outcome="unchanged")
    if found is not None:
        put = kept.get(slug)
        if put is None or put.path != str(path):
            raise WriteRefusedError(f"it has another server named {NAME}")
        before = _without(before, put, tooling)
    after, fragment = _with(before, entry, tooling)
    if _servers(after, tooling).get(NAME) != entry:
        raise WriteRefusedError("its settings are written in a form that is not known")
    backup = None
    if path.exists():
        copy = place.paths.state_dir / "mcp-backups" / f"{slug}-{path.name}"
        copy.parent.mkdir(mode=0o700, exist_ok=True)
        shutil.copyfile(path, copy)
        copy.chmod(0o600)
        backup = str(copy)
    kept[slug] = Put(path=str(path), fragment=fragment, created=backup is None, backup=backup)
    _save(place, kept)  # before the file: what is not known here could not be taken out
    _write(path, after)
    return Done(agent=slug, path=str(path), outcome="added", backup=backup)


def _out(kept: dict[str, Put], slug: str, path: Path, tooling: Tooling) -> Done:
    put = kept.pop(slug, None)
    if put is None:
        return Done(agent=slug, path=str(path), outcome="not there")
    path = Path(put.path)
    text = _read(path)
    after = _without(text, put, tooling)
    if put.created and after.strip() in ("", "{}"):
        path.unlink(missing_ok=True)
    elif after != text:
        _write(path, after)
    return Done(agent=slug, path=str(path), outcome="removed", backup=put.backup)


def _entry(place: Workspace, tooling: Tooling) -> dict[str, Any]:
    command, arguments = _command()
    entry: dict[str, Any] = {"type": "stdio"} if tooling.typed else {}
    entry |= {"command": command, "args": [*arguments, "mcp"]}
    home = place.env.get("ULTRACONTEXT_HOME")
    if home:
        entry["env"] = {"ULTRACONTEXT_HOME": home}
    return entry


def _command() -> tuple[str, list[str]]:
    """How this program is started: its script, else this interpreter."""
    script = Path(sys.argv[0])
    if script.name in ("ultracontext", "uc") and script.is_file():
        return str(script.absolute()), []
    return sys.executable, ["-m", "ultracontext.cli"]


# ---- text ----------------------------------------------------------------------------------------
def _servers(text: str, tooling: Tooling) -> dict[str, Any]:
    """By name. Raises WriteRefusedError for a file that cannot be read."""
    try:
        value: Any = tomllib.loads(text) if tooling.form == "toml" else json.loads(text or "{}")
    except ValueError as error:
        raise WriteRefusedError(f"the file is no plain {tooling.form.upper()}") from error
    for key in tooling.keys:
        value = value.get(key, {}) if isinstance(value, dict) else None
    if not isinstance(value, dict):
        raise WriteRefusedError(f"{'.'.join(tooling.keys)} is no object there")
    return value


def _with(text: str, entry: dict[str, Any], tooling: Tooling) -> tuple[str, str]:
    """(the text with our entry, what was put in)."""
    if tooling.form == "toml":
        fragment = ("" if not text or text.endswith("\n") else "\n") + _toml(entry, tooling)
        return text + fragment, fragment
    if not text.strip():
        made = _nested(tooling.keys, {NAME: entry})
        return (whole := json.dumps(made, indent=2) + "\n"), whole
    keys = list(tooling.keys)
    at = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    depth = 0
    while keys:
        found = dict(_members(text, at)).get(keys[0])
        if found is None:
            break
        at, depth = found, depth + 1
        keys.pop(0)
    name, value = (keys[0], _nested(tuple(keys[1:]), {NAME: entry})) if keys else (NAME, entry)
    indent = "  " * (depth + 1)
    body = json.dumps(value, indent=2).replace("\n", "\n" + indent)
    more = next(_members(text, at), None) is not None
    fragment = f"\n{indent}{json.dumps(name)}: {body}" + ("," if more else "")
    return text[: at + 1] + fragment + text[at + 1 :], fragment


def _without(text: str, put: Put, tooling: Tooling) -> str:
    """Our words taken out; where the agent has written its file anew, the entry."""
    if text.count(put.fragment) == 1:
        return text.replace(put.fragment, "")
    try:
        if NAME not in _servers(text, tooling):
            return text
    except WriteRefusedError:
        return text
    if tooling.form == "toml":
        raise WriteRefusedError(f"[{'.'.join(tooling.keys)}.{NAME}] was changed by hand")
    value = json.loads(text)
    inner = value
    for key in tooling.keys:
        inner = inner[key]
    del inner[NAME]
    return json.dumps(value, indent=2, ensure_ascii=False) + ("\n" if text.endswith("\n") else "")


def _members(text: str, at: int) -> Iterator[tuple[str, int]]:
    """(key, where its value begins) of the JSON object that begins at `at`."""
    scan = json.JSONDecoder()
    skip = json.decoder.WHITESPACE.match  # type: ignore[attr-defined]
    place = skip(text, at + 1).end()
    while text[place] != "}":
        key, place = scan.raw_decode(text, place)
        value = skip(text, skip(text, place).end() + 1).end()
        yield key, value
        _, place = scan.raw_decode(text, value)
        place = skip(text, place).end()
        if text[place] == ",":
            place = skip(text, place + 1).end()


def _nested(keys: tuple[str, ...], value: dict[str, Any]) -> dict[str, Any]:
    for key in reversed(keys):
        value = {key: value}
    return value


def _toml(entry: dict[str, Any], tooling: Tooling) -> str:
    table = ".".join((*tooling.keys, NAME))
    lines = [f"\n[{table}]"]
    lines += [f"{k} = {json.dumps(v)}" for k, v in entry.items() if not isinstance(v, dict)]
    for key, value in entry.items():
        if isinstance(value, dict):
            lines.append(f"\n[{table}.{key}]")
            lines += [f"{k} = {json.dumps(v)}" for k, v in value.items()]
    return "\n".join(lines) + "\n"


# ---- files ---------------------------------------------------------------------------------------
def _read(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise WriteRefusedError("the file is too large")
        return path.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise WriteRefusedError("the file is no UTF-8") from error


def _write(path: Path, text: str) -> None:
    """Whole or not at all, with the mode that it had."""
    mode = 0o600
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode & 0o777
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with beside.open("xb") as out:
            out.write(text.encode())
            out.flush()
            os.fsync(out.fileno())
        beside.chmod(mode)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _load(place: Workspace) -> dict[str, Put]:
    try:
        data = _notes(place).read_bytes()
        return msgspec.json.decode(data, type=dict[str, Put])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError) as error:
        raise WriteRefusedError(
            "what mcp install noted cannot be read", hint="Take the entries out by hand"
        ) from error


def _save(place: Workspace, kept: dict[str, Put]) -> None:
    _write(_notes(place), msgspec.json.encode(kept).decode())


def _notes(place: Workspace) -> Path:
    return place.paths.state_dir / "mcp-installed.json"
