"""Large strings put back into the JSON of their record, byte for byte around them.

The record is not parsed into values, so that numbers, key order and escapes stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from ultracontext.store.values import decode_text

Path = Sequence[str | int]

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s"\[\]{},:]+', re.DOTALL)


def put_back(body: bytes, parts: Sequence[tuple[Path, bytes]]) -> bytes:
    """The body with the value at each path replaced by its string."""
    wanted = {tuple(path): data for path, data in parts}
    spans: dict[tuple[str | int, ...], tuple[int, int]] = {}
    for path, start, end in values(body):
        if path in wanted:
            spans[path] = (start, end)  # of a key that stands twice, the last counts
    pieces, done = [], 0
    for path, (start, end) in sorted(spans.items(), key=lambda item: item[1]):
        pieces += [body[done:start], quoted(wanted[path])]
        done = end
    return b"".join([*pieces, body[done:]])


def quoted(data: bytes) -> bytes:
    """A JSON string; lone surrogates are escaped."""
    text = decode_text(data)
    try:
        return json.dumps(text, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(text).encode()


def values(body: bytes) -> Iterator[tuple[tuple[str | int, ...], int, int]]:
    """Path and byte range of every scalar in a JSON text."""
    path: list[str | int] = []
    in_object: list[bool] = []
    key: str | None = None
    for match in _TOKEN.finditer(body):
        token = match.group()
        if token in (b"{", b"["):
            in_object.append(token == b"{")
            path.append(0 if token == b"[" else "")
            key = None
        elif token in (b"}", b"]"):
            in_object.pop()
            path.pop()
        elif token == b",":
            if in_object and not in_object[-1]:
                path[-1] = int(path[-1]) + 1
            key = None
        elif token == b":":
            path[-1] = key or ""
        elif in_object and in_object[-1] and key is None:
            key = json.loads(token)
        else:
            yield tuple(path), match.start(), match.end()
