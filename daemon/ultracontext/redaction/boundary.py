"""The mint of masked records.

`Redactor.redact` is the only way from a `RawRecord` to a `MaskedRecord`. What cannot be masked for
sure does not pass: RedactionError.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NoReturn, final

import msgspec

from ultracontext.errors import RedactionError
from ultracontext.model import RawRecord
from ultracontext.redaction.engine import open_engine
from ultracontext.redaction.fingerprint import Fingerprinter
from ultracontext.redaction.parse import (
    dump_json,
    load_exactly,
    load_json,
    surely_exact,
    without_bom,
)
from ultracontext.redaction.rules import load_rules, rule_set_version
from ultracontext.redaction.scan import Scanner
from ultracontext.redaction.walk import Found, collect, meaning, replace

PART_BYTES = 256 * 1024
"""A masked string above this is kept beside its record."""

KEPT_CHARACTERS = 1000
"""What stays of it in the record."""


class Part(msgspec.Struct, frozen=True):
    """A masked string over 256 KiB, kept beside its record."""

    path: tuple[str | int, ...]
    """Keys and indexes from the root of the native record."""
    digest: str
    """blake2b-128 hex of `data`."""
    data: bytes
    """UTF-8 (`surrogatepass`)."""


@final
class MaskedRecord:
    """A record in which every secret is masked. Only `Redactor.redact` makes one.

    `native` is shared, not copied: whoever takes a record reads it and leaves it as it is.
    """

    __slots__ = (
        "agent", "body", "companions", "damage", "digest", "end", "masks", "native", "parts",
        "rule_set", "source", "start", "text", "too_large",
    )

    agent: str
    source: str
    """Path of the source, masked."""
    start: int
    end: int
    native: Any
    """Masked JSON object; None for an opaque record."""
    text: str | None
    """Masked text of an opaque record, else None."""
    body: bytes
    """UTF-8 JSON of `native`; the record's own bytes when nothing was masked or taken out."""
    parts: tuple[Part, ...]
    companions: Mapping[str, str]
    damage: str | None
    too_large: tuple[int, str] | None
    masks: Mapping[str, int]
    """Names of rules, with how many masks each put in."""
    rule_set: int
    digest: bytes
    """16 bytes, keyed, over the unmasked bytes; never leaves this machine."""

    def __new__(cls, *_args: object, **_fields: object) -> NoReturn:
        raise TypeError("a MaskedRecord is made by Redactor.redact only")

    def __init_subclass__(cls, **_options: object) -> NoReturn:
        raise TypeError("MaskedRecord has no subclasses")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a MaskedRecord is frozen")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a MaskedRecord is frozen")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a MaskedRecord is not copied or pickled")

    def __copy__(self) -> NoReturn:
        raise TypeError("a MaskedRecord is not copied or pickled")

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise TypeError("a MaskedRecord is not copied or pickled")

    def __repr__(self) -> str:
        return f"<MaskedRecord {self.agent} {self.start}-{self.end}>"


def _mint(**fields: Any) -> MaskedRecord:
    record: MaskedRecord = object.__new__(MaskedRecord)
    put = object.__setattr__
    for name, value in fields.items():
        put(record, name, value)
    return record


class Redactor:
    """Masks records and single strings under one rule set. Safe to share between threads."""

    def __init__(self, scanner: Scanner, version: int) -> None:
        self.scanner = scanner
        self._known: dict[str, int] = {}
        self._paths: dict[str, str] = {}
        self.rule_set = version
        self.rules = len(scanner.rules)
        self.engine = scanner.engine.name

    def redact(self, raw: RawRecord) -> MaskedRecord:
        """The record, masked. Raises RedactionError when that cannot be done for sure."""
        counts: Counter[str] = Counter()
        digest = self.scanner.fingerprints.record(raw.data, raw.companions)
        native, text, body, parts = None, None, b"", ()
        if raw.too_large is not None:
            size, name = raw.too_large
            text = f"[a record of {size} bytes was too large to be kept; digest {name}]"
        else:
            native, body = self._object(without_bom(raw.data), counts)
            if native is None:
                text = self._opaque(raw.data, counts)
        if len(body) > PART_BYTES:
            native, body, parts = _slim(native, body)
        return _mint(
            agent=raw.agent, source=self._path(raw.source), start=raw.start, end=raw.end,
            native=native, text=text, body=body, parts=parts,
            companions={k: self._opaque(v, counts) for k, v in raw.companions.items()},
            damage=raw.damage, too_large=raw.too_large, masks=dict(counts),
            rule_set=self.rule_set, digest=digest,
        )

    def with_companions(self, record: MaskedRecord, files: Mapping[str, bytes]) -> MaskedRecord:
        """The record once more, with the files that it refers to, masked like itself."""
        counts = Counter(record.masks)
        fields = {name: getattr(record, name) for name in MaskedRecord.__slots__}
        fields["companions"] = {k: self._opaque(v, counts) for k, v in files.items()}
        fields["masks"] = dict(counts)
        fields["digest"] = self.scanner.fingerprints.record(record.digest, files)
        return _mint(**fields)

    def text(self, text: str) -> str:
        """A single string, masked: a path, branch, host or error text."""
        return self.scanner.text(text)

    def _path(self, path: str) -> str:
        """A source's path, masked; all records of a source ask for the same one."""
        if path not in self._paths:
            if len(self._paths) > 1024:
                self._paths.clear()
            self._paths[path] = self.text(path)
        return self._paths[path]

    def _opaque(self, data: bytes, counts: Counter[str]) -> str:
        text = data.decode("utf-8", "backslashreplace")
        return self.scanner.mask([text], counts).get(0, text)

    def _object(self, data: bytes, counts: Counter[str]) -> tuple[Any, bytes]:
        """The masked object and its JSON; (None, b"") when the data is no object."""
        try:
            native = load_json(data)
            if type(native) is not dict:
                return None, b""
            found = collect(native, self._known)
            if not (found.exact and surely_exact(data, native, found.members)):
                native, found = self._slowly(data)
        except ValueError:
            return None, b""
        texts = found.values + found.keys
        changed = self.scanner.mask(texts, counts) if texts else {}
        fields = self.scanner.fields(found.fields, changed, texts, counts) if found.fields else {}
        if not changed and not fields:
            self._learn(found.keys)
            return native, data
        split = len(found.values)
        replace(
            native,
            {texts[i]: text for i, text in changed.items() if i < split},
            {texts[i]: text for i, text in changed.items() if i >= split},
            fields,
        )
        return native, dump_json(native)

    def _slowly(self, data: bytes) -> tuple[Any, Found]:
        dropped: list[dict[str, Any]] = []
        native = load_exactly(data, dropped)
        found = collect(native, self._known)
        if dropped:
            hidden = collect(dropped, self._known)
            found.values += hidden.values
            found.keys += hidden.keys
            found.fields += hidden.fields
        return native, found

    def _learn(self, keys: Sequence[str]) -> None:
        if len(self._known) > 4096:
            self._known.clear()
        self._known.update((key, meaning(key)) for key in keys if len(key) <= 64)


def load_redactor(
    secret: bytes, *, cache_dir: Path | None = None, engine: str | None = None
) -> Redactor:
    """A redactor with all rules. Raises RedactionError when it cannot be had: nothing passes then."""
    rules = load_rules()
    version = rule_set_version(rules)
    opened = open_engine(rules, version, name=engine, cache_dir=cache_dir)
    return Redactor(Scanner(rules, opened, Fingerprinter(secret)), version)


def join_parts(body: bytes, parts: Sequence[Part]) -> bytes:
    """The JSON of a record with the strings of its parts put back."""
    if not parts:
        return body
    native = load_json(body)
    for part in parts:
        node = native
        for step in part.path[:-1]:
            node = node[step]
        node[part.path[-1]] = part.data.decode("utf-8", "surrogatepass")
    return dump_json(native)


def _slim(native: Any, body: bytes) -> tuple[Any, bytes, tuple[Part, ...]]:
    parts: list[Part] = []
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), native)]
    while stack:
        path, node = stack.pop()
        for key, value in list(node.items() if type(node) is dict else enumerate(node)):
            if type(value) is str and len(value) > PART_BYTES // 4:
                data = value.encode("utf-8", "surrogatepass")
                if len(data) > PART_BYTES:
                    digest = blake2b(data, digest_size=16).hexdigest()
                    parts.append(Part((*path, key), digest, data))
                    node[key] = value[:KEPT_CHARACTERS]
            elif type(value) is dict or type(value) is list:
                stack.append(((*path, key), value))
    return (native, dump_json(native), tuple(parts)) if parts else (native, body, ())


__all__ = [
    "MaskedRecord", "Part", "RedactionError", "Redactor", "join_parts", "load_redactor",
]
