"""The one place that prints. Data goes to stdout, everything else to stderr.

Text from sessions is data: whatever a terminal could take for an instruction is made visible or
left out, and lone surrogates never break the output.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import unicodedata
from collections.abc import Mapping
from typing import Any, TextIO

from ultracontext.errors import UltraContextError

_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[0-~])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
"""CSI, OSC and other strings, two-character escapes; also the 8-bit CSI."""

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class OutputError(UltraContextError):
    """What was printed could not be written."""

    code = "output"


def write(text: str = "") -> None:
    """One line, or several, to stdout."""
    _put(sys.stdout, text + "\n")


def note(text: str) -> None:
    """A line for the person, beside the data."""
    _put(sys.stderr, text + "\n")


def write_json(value: Any) -> None:
    """Data as one JSON document."""
    _put_bytes(sys.stdout, json_bytes(value) + b"\n")


def write_bytes(data: bytes) -> None:
    """Bytes that are JSON already."""
    _put_bytes(sys.stdout, data)


def fail(error: UltraContextError, *, as_json: bool) -> None:
    """One line on stderr that ends with the next step, or one JSON object."""
    if as_json:
        body = {"code": error.code, "message": error.message, "hint": error.hint}
        _put_bytes(sys.stderr, json_bytes({"error": body}) + b"\n")
        return
    hint = f". {error.hint}" if error.hint else ""
    _put(sys.stderr, f"ultracontext: {one_line(error.message.rstrip('.') + hint)}\n")


def json_bytes(value: Any) -> bytes:
    """JSON as valid UTF-8: lone surrogates as escapes, no NaN, numbers of any size."""
    import orjson

    try:
        return orjson.dumps(value)
    except (orjson.JSONEncodeError, RecursionError):
        text = json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def visible(text: str) -> str:
    """Text of several lines in which nothing acts on a terminal: controls show as symbols."""
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(c) for c in text)


def _visible(char: str) -> str:
    code = ord(char)
    if char in "\n\t" or char.isprintable():
        return char
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    if 0x80 <= code <= 0x9F or char in _BIDI:
        return f"<U+{code:04X}>"
    return char if unicodedata.category(char) in ("Cf", "Co", "Zs") else f"<U+{code:04X}>"


def one_line(text: str) -> str:
    """A title or a name: no escape sequences, no control characters, white space as one blank."""
    text = _SEQUENCE.sub("", text)
    kept = "".join(c for c in text if c.isprintable() or c.isspace() or c == "\u200d")
    return " ".join("".join(c for c in kept if c not in _BIDI).split())


def is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def columns() -> int | None:
    """Width to fit into; None where nothing says so (a pipe without COLUMNS)."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None


def _put(stream: TextIO | None, text: str) -> None:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    _put_bytes(stream, text.encode(encoding, "replace"))


def _put_bytes(stream: TextIO | None, data: bytes) -> None:
    if stream is None:  # closed before we started
        return
    buffer = getattr(stream, "buffer", None)
    if buffer is None:  # a test's stand-in
        stream.write(data.decode("utf-8", "replace"))
        return
    try:
        stream.flush()
        buffer.write(data)
        buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritable(error) from error


def unwritable(error: OSError) -> OutputError:
    return OutputError(
        f"cannot write the output: {error.strerror or type(error).__name__}",
        hint="Make room there, or send it elsewhere",
    )
