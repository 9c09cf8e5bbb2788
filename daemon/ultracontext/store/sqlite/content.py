"""The content of one node, masked again under today's rules.

Large strings are masked one by one and never put into one text, so that memory is bounded by the
largest of them. What a record keeps of such a string is cut anew from the masked one: a secret that
the cut had split is whole there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from ultracontext.model import RawRecord
from ultracontext.redaction import Redactor
from ultracontext.redaction.slim import KEPT_CHARACTERS, KEPT_OF_SHORTER, PART_BYTES
from ultracontext.store.sqlite.parts import put_back
from ultracontext.store.values import decode_text, dump, encode_text, load

Fetch = Callable[[str], bytes]


@dataclass(slots=True, kw_only=True)
class Content:
    """Body and `extra` (uncompressed) of a node, and large strings that come and go."""

    body: bytes
    extra: bytes | None
    added: dict[str, bytes] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)


class Remasker:
    """Masks contents under the rules of one redactor."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor

    def masked(self, old: Content, *, opaque: bool, fetch: Fetch) -> Content:
        """The content as it should be; the same objects where nothing changes."""
        new = Content(body=old.body, extra=old.extra)
        if old.extra is not None:
            self._along(new, fetch)
        if old.body:
            new.body = self._text(new.body) if opaque else self._object(new.body)
        return new

    def text(self, text: str) -> str:
        return self.redactor.text(text)

    def _text(self, body: bytes) -> bytes:
        text = decode_text(body)
        masked = self.redactor.text(text)
        return body if masked == text else encode_text(masked)

    def _object(self, body: bytes) -> bytes:
        raw = RawRecord(agent="", source="", start=0, end=len(body), data=body)
        record = self.redactor.redact(raw, whole=True)
        return self._text(body) if record.text is not None else record.body

    def _along(self, new: Content, fetch: Fetch) -> None:
        extra = load(new.extra or b"{}")
        before = dump(extra)
        if "parts" in extra:
            self._parts(new, extra, fetch)
        for name, text in extra.get("companions", {}).items():
            extra["companions"][name] = self.redactor.text(text)
        for name, digest in extra.get("large", {}).items():
            extra["large"][name] = self._large(new, digest, fetch)[0]
        if (after := dump(extra)) != before:
            new.extra = after

    def _parts(self, new: Content, extra: dict[str, Any], fetch: Fetch) -> None:
        heads = []
        for part in extra["parts"]:
            path, digest = part
            part[1], text, size = self._large(new, digest, fetch)
            if part[1] != digest:
                kept = KEPT_CHARACTERS if size > PART_BYTES else KEPT_OF_SHORTER
                heads.append((path, encode_text(text[:kept])))
        if heads:
            new.body = put_back(new.body, heads)

    def _large(self, new: Content, digest: str, fetch: Fetch) -> tuple[str, str, int]:
        """(digest, text, bytes before) of a large string, masked."""
        data = fetch(digest)
        text = decode_text(data)
        masked = self.redactor.text(text)
        if masked == text:
            return digest, text, len(data)
        fresh = encode_text(masked)
        name = blake2b(fresh, digest_size=16).hexdigest()
        new.added[name] = fresh
        new.dropped.add(digest)
        return name, masked, len(data)
