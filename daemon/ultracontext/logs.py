"""Logging: human text on a terminal, JSON lines to the rotating log file. Never payload text.

Modules call `get_logger(__name__)`, which costs nothing until something is logged: structlog is
imported then. Until `configure` was called nothing is written anywhere.

    log = get_logger(__name__)
    log.info("daemon-started", pid=…, version=…)

The event is a constant name; data goes into fields. Values are cut at 300 characters. The same
event of the same source is written at most five times a minute; the next one carries `repeated`.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, MutableMapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
VALUE_CHARACTERS = 300
REPEATS = 5
REPEAT_SECONDS = 60.0
FILE_BYTES = 5 * 1024 * 1024
FILES_KEPT = 3

EventDict = MutableMapping[str, Any]
Sink = Callable[[Mapping[str, Any]], None]

_lock = threading.Lock()
_sinks: list[Sink] = []
_level = LEVELS["info"]


class Logger:
    """Stands for a structlog logger and makes it at the first use."""

    __slots__ = ("_bound", "_name", "_values")

    def __init__(self, name: str, **values: Any) -> None:
        self._name = name
        self._values = values
        self._bound: Any = None

    def bind(self, **values: Any) -> Logger:
        return Logger(self._name, **{**self._values, **values})

    def debug(self, event: str, **fields: Any) -> None:
        self._write("debug", event, fields)

    def info(self, event: str, **fields: Any) -> None:
        self._write("info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        self._write("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        self._write("error", event, fields)

    def _write(self, level: str, event: str, fields: Mapping[str, Any]) -> None:
        if not _sinks or LEVELS[level] < _level:
            return
        if self._bound is None:
            self._bound = _structlog().get_logger(self._name).bind(**self._values)
        getattr(self._bound, level)(event, **fields)


def get_logger(name: str) -> Logger:
    """The logger of a module."""
    return Logger(name.removeprefix("ultracontext."))


def configure(
    *, level: str = "info", file: Path | None = None, terminal: TextIO | None = None
) -> None:
    """Says where log lines go from now on. Without a file and a terminal they go nowhere."""
    global _level  # one logging configuration a process
    with _lock:
        for sink in _sinks:
            if isinstance(sink, RotatingFile):
                sink.close()
        _sinks.clear()
        _level = LEVELS[level]
        if file is not None:
            _sinks.append(RotatingFile(file))
        if terminal is not None:
            _sinks.append(Terminal(terminal))
    adopt_if_loaded()


def set_level(level: str) -> None:
    """Changes how much is written; where to stays."""
    global _level  # one logging configuration a process
    _level = LEVELS[level]


def adopt() -> None:
    """Takes over the loggers of modules that use structlog directly; it would print to stdout."""
    _structlog()


def adopt_if_loaded() -> None:
    """As `adopt`, when such a module was imported at all."""
    if "structlog" in sys.modules:
        _structlog()


class RotatingFile:
    """JSON lines in a file of mode 0600. A full disk costs log lines, never the program."""

    def __init__(self, path: Path, *, limit: int = FILE_BYTES, kept: int = FILES_KEPT) -> None:
        self._path = path
        self._limit = limit
        self._kept = kept
        self._handle: int | None = None
        self._size = 0

    def __call__(self, fields: Mapping[str, Any]) -> None:
        import json

        line = json.dumps(fields, default=str).encode("ascii") + b"\n"
        try:
            if self._handle is not None and self._taken_away(self._handle):
                self.close()
            if self._handle is None:
                self._open()
            elif self._size + len(line) > self._limit:
                self._rotate()
            if self._handle is not None:
                self._size += os.write(self._handle, line)
        except OSError:
            self.close()

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _open(self) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._handle = os.open(self._path, flags, 0o600)
        self._size = os.fstat(self._handle).st_size

    def _taken_away(self, handle: int) -> bool:
        """Whether somebody removed or moved the file: nobody would look where we write then."""
        try:
            return not os.path.samestat(os.fstat(handle), self._path.stat())
        except FileNotFoundError:
            return True

    def _rotate(self) -> None:
        self.close()
        for number in range(self._kept - 1, 0, -1):
            older = self._path.with_name(f"{self._path.name}.{number}")
            if older.exists():
                older.replace(self._path.with_name(f"{self._path.name}.{number + 1}"))
        self._path.replace(self._path.with_name(f"{self._path.name}.1"))
        self._open()


class Terminal:
    """One human line an event."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __call__(self, fields: Mapping[str, Any]) -> None:
        try:
            self._stream.write(human_line(fields) + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            return  # the terminal is gone


def human_line(fields: Mapping[str, Any]) -> str:
    """`14:02:50 warning source set aside  agent=claude code=unreadable`"""
    rest = {k: v for k, v in fields.items() if k not in ("timestamp", "level", "event", "logger")}
    data = " ".join(f"{key}={_printable(value)}" for key, value in rest.items())
    clock = _local_clock(str(fields.get("timestamp", "")))
    level = str(fields.get("level", "info"))
    mark = f" {level}:" if level != "info" else ""
    event = _printable(str(fields.get("event", "")).replace("-", " "))
    return f"{clock}{mark} {event}" + (f"  {data}" if data else "")


def _local_clock(timestamp: str) -> str:
    try:
        return datetime.fromisoformat(timestamp).astimezone().strftime("%H:%M:%S")
    except ValueError:
        return "--:--:--"


def _printable(value: object) -> str:
    text = str(value)
    return "".join(c if c.isprintable() else "?" for c in text)


def where(error: BaseException) -> dict[str, Any]:
    """What a log line may say of an exception: its type and place, not its text."""
    return {"error": type(error).__name__, "at": _frames(error.__traceback__)}


def _frames(traceback: TracebackType | None) -> list[str]:
    places: list[str] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        places.append(f"{Path(code.co_filename).name}:{traceback.tb_lineno} {code.co_name}")
        traceback = traceback.tb_next
    return places[-12:]


def _structlog() -> Any:
    import structlog

    if not structlog.is_configured():
        structlog.configure(
            processors=[
                structlog.processors.add_log_level,
                _stamp,
                RepeatLimit(time.monotonic),
                _cut_values,
                _fan_out,
            ],
            wrapper_class=structlog.make_filtering_bound_logger(LEVELS["debug"]),
            logger_factory=lambda name="", *_: _Nowhere(name),
            cache_logger_on_first_use=False,
        )
    return structlog


class _Nowhere:
    """The wrapped logger; `_fan_out` has written the line already."""

    def __init__(self, name: str = "") -> None:
        self.name = name


def _stamp(logger: Any, _method: str, event: EventDict) -> EventDict:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    name = {"logger": logger.name} if getattr(logger, "name", "") else {}
    return {"timestamp": now, "level": event.pop("level"), **name, **event}


class RepeatLimit:
    """Drops and counts what one event, code and source bring beyond five lines a minute."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seen: dict[tuple[str, ...], tuple[float, int]] = {}

    def __call__(self, _logger: Any, _method: str, event: EventDict) -> EventDict:
        names = ("event", "level", "code", "agent", "source")
        key = tuple(str(event.get(name, "")) for name in names)
        now = self._clock()
        begun, count = self._seen.get(key, (now, 0))
        if now - begun >= REPEAT_SECONDS:
            if count > REPEATS:
                event["repeated"] = count - REPEATS
            begun, count = now, 0
        if len(self._seen) > 1000:
            self._seen.clear()
        self._seen[key] = (begun, count + 1)
        if count >= REPEATS:
            import structlog

            raise structlog.DropEvent
        return event


def _cut_values(_logger: Any, _method: str, event: EventDict) -> EventDict:
    event.pop("exc_info", None)  # its text may quote what was read
    return {key: _cut(value) for key, value in event.items()}


def _cut(value: Any) -> Any:
    if isinstance(value, BaseException):
        return type(value).__name__
    if isinstance(value, (bool, int, float)) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [_cut(item) for item in value[:20]]
    text = str(value)
    return text if len(text) <= VALUE_CHARACTERS else text[:VALUE_CHARACTERS] + "…"


def _fan_out(_logger: Any, _method: str, event: EventDict) -> str:
    import structlog

    with _lock:
        if LEVELS.get(str(event.get("level")), 20) >= _level:
            for sink in _sinks:
                sink(event)
    raise structlog.DropEvent
