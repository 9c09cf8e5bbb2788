"""Which pictures a target takes."""

from __future__ import annotations

import base64
import binascii
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ultracontext.formats import Entry, Image, Limits, LossKind
from ultracontext.switch import notes

HEAD_CHARS = 64 << 10


def limited(entries: Sequence[Entry], limits: Limits, lost: Counter[LossKind]) -> list[Entry]:
    """The newest pictures within the limits; the others become the notes that tell their size."""
    left = limits.images
    done: list[Entry] = []
    for entry in reversed(entries):
        if not entry.images:
            done.append(entry)
            continue
        kept: list[Image] = []
        out: list[Image] = []
        holds = entry.kind == "user" or limits.result_images
        for image in reversed(entry.images):
            if holds and left > 0 and fits(image, limits):
                kept.insert(0, image)
                left -= 1
            else:
                out.insert(0, image)
        lost["image"] += len(out)
        lines = [notes.image(image.note) for image in out]
        text = "\n".join([*lines, entry.text] if entry.text else lines)
        done.append(replace(entry, images=tuple(kept), text=text))
    done.reverse()
    return done


def fits(image: Image, limits: Limits) -> bool:
    if image.media_type not in limits.image_types or image.size_bytes > limits.image_bytes:
        return False
    try:
        base64.b64decode(image.data[:HEAD_CHARS], validate=True)
    except (binascii.Error, ValueError):
        return False
    size = pixels(image)
    return size is None or limits.image_pixels is None or max(size) <= limits.image_pixels


def pixels(image: Image) -> tuple[int, int] | None:
    """Width and height as the picture's head tells them; None where it does not."""
    try:
        head = base64.b64decode(image.data[: HEAD_CHARS & ~3])
    except (binascii.Error, ValueError):
        return None
    if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) >= 24:
        return struct.unpack(">II", head[16:24])
    if head[:6] in (b"GIF87a", b"GIF89a") and len(head) >= 10:
        return struct.unpack("<HH", head[6:10])
    return _jpeg(head) if head[:2] == b"\xff\xd8" else None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    """The frame header: SOF0 to SOF15 without DHT, JPG and DAC."""
    at = 2
    while at + 9 < len(head) and head[at] == 0xFF:
        kind, length = head[at + 1], int.from_bytes(head[at + 2 : at + 4], "big")
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None
