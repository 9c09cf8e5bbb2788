"""A database and its write-ahead log put together in memory.

Format: sqlite.org/fileformat2.html, section 4 ("The Write-Ahead Log"), as of SQLite 3.50.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ultracontext.capture.places import opened, read_at

_MAGIC = 0x377F0682
_HEAD = 32
_FRAME = 24


def overlaid(path: str) -> bytes:
    """The bytes of a whole database in rollback mode. Raises OSError."""
    with opened(path) as descriptor:
        data = bytearray(read_at(descriptor, 0, 1 << 40))
    with opened(path + "-wal") as descriptor:
        wal = read_at(descriptor, 0, 1 << 40)
    pages: dict[int, bytes] = {}
    waiting: dict[int, bytes] = {}
    size = 0
    for number, committed, page in _frames(wal):
        waiting[number] = page
        if committed:
            pages.update(waiting)
            waiting.clear()
            size = committed * len(page)
    for number, page in pages.items():
        end = number * len(page)
        if len(data) < end:
            data.extend(bytes(end - len(data)))
        data[end - len(page) : end] = page
    if size:
        del data[size:]
    data[18:20] = b"\x01\x01"
    return bytes(data)


def _frames(wal: bytes) -> Iterator[tuple[int, int, bytes]]:
    """(page number, pages of the database if it commits else 0, page), while they are sound."""
    if len(wal) < _HEAD:
        return
    magic, _, page_size, _ = struct.unpack(">4I", wal[:16])
    if magic & ~1 != _MAGIC or not 512 <= page_size <= 65536:
        return
    order = ">" if magic & 1 else "<"
    sums = _checksum(wal[:24], order, (0, 0))
    if sums != struct.unpack(">2I", wal[24:32]):
        return
    at = _HEAD
    while at + _FRAME + page_size <= len(wal):
        head, page = wal[at : at + _FRAME], wal[at + _FRAME : at + _FRAME + page_size]
        number, committed = struct.unpack(">2I", head[:8])
        if head[8:16] != wal[16:24] or number == 0:
            return
        sums = _checksum(page, order, _checksum(head[:8], order, sums))
        if sums != struct.unpack(">2I", head[16:24]):
            return
        yield number, committed, page
        at += _FRAME + page_size


def _checksum(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, two in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + two + first) & 0xFFFFFFFF
    return first, second
