"""The mint of masked records.

`Redactor.redact` is the only way from a `RawRecord` to a `MaskedRecord`. What cannot be masked for
sure does not pass: RedactionError.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from ultracontext.errors import RedactionError
from ultracontext.model import RawRecord
from ultracontext.redaction.across import mask_across
from ultracontext.redaction.frames import FRAMES, Frame, follow, may_begin, may_open
from ultracontext.redaction.joined import mask_joined
from ultracontext.redaction.large import TIMEOUT_SECONDS, ChildError, Order, mask_in_child
from ultracontext.redaction.minted import (
    MaskedRecord,
    MaskedText,
    Open,
    closed,
    fields_of,
    mint,
    mint_text,
)
from ultracontext.redaction.parse import (
    dump_json,
    load_exactly,
    load_json,
    load_quickly,
    surely_exact,
    without_bom,
)
from ultracontext.redaction.scan import Scanner
from ultracontext.redaction.slim import PART_BYTES, Part, slim
from ultracontext.redaction.together import plain_ones
from ultracontext.redaction.walk import OUR_NAMES, SHORTEST, Found, Names, collect, replace

JOINED = ("cut-in-two",)
"""Counted among the masks of a record that holds a part of a secret."""

FRAMED = ("framed",)
"""The same, of a framed secret."""


def _may_open(raws: Sequence[RawRecord]) -> bool:
    """Whether one may hold the header of a frame, or a text that ends in the begin of one."""
    if any(may_open(raw.data) or b'-"' in raw.data for raw in raws):
        return True
    return bool(raws) and may_begin(raws[-1].data)


def _is_here(raw: RawRecord) -> bool:
    """Whether its bytes are in memory, or there are none to be had."""
    return bool(raw.data) or raw.too_large is not None


def _written(said: Any) -> bytes:
    """The bytes of what `_said` gave."""
    if type(said) is list:
        text: str = said[0]
        return text.encode("utf-8", "surrogateescape")
    return dump_json(said)


class Redactor:
    """Masks records and single strings under one rule set. Safe to share between threads."""

    def __init__(
        self, scanner: Scanner, version: int, secret: bytes, cache_dir: Path | None = None
    ) -> None:
        self._secret = secret
        self._cache_dir = cache_dir
        self.scanner = scanner
        self._custom = scanner.custom
        self._names = OUR_NAMES
        if self._custom is not None:
            self._names = Names(self._custom.keys, 1 if self._custom.searches else SHORTEST)
        self._own_rules = self._custom is not None and self._custom.searches
        self._follows = bool(scanner.rules)
        self._known: dict[str, int] = {}
        self._paths: dict[str, str] = {}
        self.rule_set = version
        self.rules = len(scanner.rules)
        self.engine = scanner.engine.name

    def redact(
        self, raw: RawRecord, frame: Frame | None = None, *, whole: bool = False
    ) -> MaskedRecord:
        """The record, masked. Raises RedactionError when that cannot be done for sure.

        `frame` is what the record before it in its source left open; what this one leaves open is
        its `frame` (`sequence` also tells a header that the end of a text cuts). With `whole` its
        large strings stay in it: for those who read it, not for who keeps it.
        """
        if not self._follows or (frame is None and not may_open(raw.data)):
            return self._alone(raw, whole=whole)
        return self._framed([raw], frame, whole=whole)[0][1]

    def _alone(self, raw: RawRecord, *, whole: bool = False) -> MaskedRecord:
        """The record without what came before it."""
        if raw.too_large is not None:
            return self._stub(raw, raw.too_large)
        if self.passes(raw.source):
            return self._as_it_is(raw, whole=whole)
        counts: Counter[str] = Counter()
        text: str | None = None
        parts: tuple[Part, ...] = ()
        native, body = self._object(without_bom(raw.data), counts)
        if native is None:
            text = self._opaque(raw.data, counts)
        elif len(body) > PART_BYTES and not whole:
            body, parts = slim(native, body)
        return mint(
            agent=raw.agent,
            source=self.path(raw.source),
            start=raw.start,
            end=raw.end,
            native=native,
            text=text,
            body=body,
            parts=parts,
            companions={k: self._opaque(v, counts) for k, v in raw.companions.items()},
            damage=raw.damage,
            too_large=None,
            masks=dict(counts),
            rule_set=self.rule_set,
            digest=self.scanner.fingerprints.record(raw.data, raw.companions),
        )

    def _each(
        self, raws: Sequence[RawRecord], one_of: Callable[[RawRecord], MaskedRecord] | None = None
    ) -> list[MaskedRecord]:
        """The records as if each were the only one; by `one_of` where something shows."""
        mask = one_of or self.redact_any
        one_by_one = self._own_rules or not self.scanner.rules
        if one_by_one or len(raws) < 2 or self.passes(raws[0].source):
            return [mask(raw) for raw in raws]
        plain = plain_ones(raws, self.scanner, self._known, self._names)
        return [
            mask(raw) if one is None else self._as_plain(raw, *one)
            for raw, one in zip(raws, plain, strict=True)
        ]

    def _as_plain(self, raw: RawRecord, native: dict[str, Any], keys: list[str]) -> MaskedRecord:
        """A record in which there was nothing to mask."""
        if keys:
            self._learn(keys)
        content = blake2b(raw.data, digest_size=16).digest()
        body = without_bom(raw.data)
        parts: tuple[Part, ...] = ()
        if len(body) > PART_BYTES:
            body, parts = slim(native, body)
        fields: Any = Open()
        fields.agent = raw.agent
        fields.source = self.path(raw.source)
        fields.start = raw.start
        fields.end = raw.end
        fields.native = native
        fields.text = None
        fields.body = body
        fields.content = content if body is raw.data else None
        fields.parts = parts
        fields.companions = {}
        fields.damage = raw.damage
        fields.too_large = None
        fields.masks = {}
        fields.rule_set = self.rule_set
        fields.digest = self.scanner.fingerprints.over(content, {})
        fields.frame = None
        return closed(fields)

    def sequence(self, raws: Sequence[RawRecord], frame: Frame | None) -> list[MaskedRecord]:
        """Records of one source that follow each other, masked together.

        A framed secret may reach over all of them, and from the `frame` that was open before; any
        other that is cut over neighbours is looked for where they meet. The last one's `frame` is
        for the next call. The digests are those of the records as they came.
        """
        if not self._follows or not (frame or _may_open(raws)):
            return self.across(raws, self._each(raws))
        pairs = self._framed(raws, frame)
        return self.across([raw for raw, _ in pairs], [record for _, record in pairs])

    def _framed(
        self, raws: Sequence[RawRecord], frame: Frame | None, *, whole: bool = False
    ) -> list[tuple[RawRecord, MaskedRecord]]:
        """The records with what frames hold in them masked, and they as masked ones."""
        out: list[tuple[RawRecord, MaskedRecord]] = []
        for here, run in groupby(raws, key=_is_here):
            if here:
                out += self._followed(list(run), frame, whole=whole)
            else:
                for raw in run:
                    out.append((raw, self.redact_file(raw, frame=frame)))
                    frame = out[-1][1].frame
            frame = out[-1][1].frame
        return out

    def _followed(
        self, raws: Sequence[RawRecord], frame: Frame | None, *, whole: bool
    ) -> Iterator[tuple[RawRecord, MaskedRecord]]:
        off = [kind for kind in FRAMES if kind not in self.scanner.frames]
        after, changed = follow(raws, self._said, frame, self.scanner.mark, off)
        rest = [raw for number, raw in enumerate(raws) if number not in changed]
        alone = partial(self._alone, whole=whole)
        plain = iter([alone(raw) for raw in rest] if whole else self._each(rest, alone))
        for number, raw in enumerate(raws):
            if number not in changed:
                record = next(plain)
                if after[number] is not None:
                    record = mint(**fields_of(record) | {"frame": after[number]})
                yield raw, record
                continue
            edited = msgspec.structs.replace(raw, data=_written(changed[number]))
            record = self._alone(edited, whole=whole)
            masks = Counter(record.masks)
            masks.update(FRAMED)
            digest = self.scanner.fingerprints.record(raw.data, raw.companions)
            own = {"frame": after[number], "masks": dict(masks), "digest": digest}
            yield edited, mint(**fields_of(record) | own)

    def _said(self, raw: RawRecord) -> Any:
        """A record as `follow` takes it: parsed, or the text of an opaque one in a list."""
        if not raw.data or self.passes(raw.source):
            return None
        try:
            native = load_json(without_bom(raw.data))
        except ValueError:
            native = None
        if type(native) is dict:
            return native
        return [raw.data.decode("utf-8", "surrogateescape")]

    def across(
        self, raws: Sequence[RawRecord], masked: Sequence[MaskedRecord]
    ) -> list[MaskedRecord]:
        """Neighbouring records of one source, masked by themselves, looked at once more together.

        A record in which a part of a cut secret stood is another one then, its `digest` the same.
        """
        out = list(masked)
        if len(out) < 2 or not self.scanner.rules:
            return out
        natives = [self._unmasked(raw, record) for raw, record in zip(raws, masked, strict=True)]
        for number in mask_across(natives, self.scanner):
            raw = raws[number]
            again = self._alone(msgspec.structs.replace(raw, data=dump_json(natives[number])))
            first = masked[number]
            masks = Counter(again.masks)
            masks.update(JOINED)
            own = {"digest": first.digest, "frame": first.frame, "masks": dict(masks)}
            out[number] = mint(**fields_of(again) | own)
        return out

    def _unmasked(self, raw: RawRecord, record: MaskedRecord) -> dict[str, Any] | None:
        """What a record says in clear, in a copy of its own where masks or parts stand."""
        if type(record.native) is not dict or not raw.data or self.passes(raw.source):
            return None
        if not record.masks and not record.parts:
            return record.native
        try:
            native = load_json(without_bom(raw.data))
        except ValueError:
            return None
        return native if type(native) is dict else None

    def redact_file(
        self,
        raw: RawRecord,
        path: Path | None = None,
        *,
        frame: Frame | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> MaskedRecord:
        """A record whose bytes are left in the file, masked by a process of its own.

        `raw.data` is empty; bytes `start` to `end` of `path` (without it, of `raw.source`) are the
        record with its line end. Parts come compressed, so that this process stays small. What the
        child cannot mask, for want of time, memory or sense, becomes a stub with size and digest
        (`too_large`). Blocks until the child ends. Raises RedactionError when the child's rules do
        not load, or are others: the source stops then, and nothing is left out.
        """
        place = Path(raw.source) if path is None else path
        if self.passes(raw.source):
            return self._as_it_is(raw, place)
        order = Order(
            path=str(place),
            start=raw.start,
            end=raw.end,
            secret=self._secret,
            engine=self.engine,
            cache_dir=None if self._cache_dir is None else str(self._cache_dir),
            rule_set=self.rule_set,
            custom=self._packed(),
            frame={} if frame is None else frame.state(),
        )
        try:
            masked = mask_in_child(order, timeout_seconds=timeout_seconds)
            native = load_json(masked.body)
        except (ChildError, ValueError):
            # the frame stays open: what follows is rather masked than not
            stub = self._stub(raw, _measured(place, raw.start, raw.end))
            return mint(**fields_of(stub) | {"frame": frame})
        self.scanner.fingerprints.note(masked.noted)
        return mint(
            agent=raw.agent,
            source=self.path(raw.source),
            start=raw.start,
            end=raw.end,
            native=native,
            text=None,
            body=masked.body,
            parts=masked.parts,
            companions={},
            damage=raw.damage,
            too_large=None,
            masks=masked.masks,
            rule_set=self.rule_set,
            digest=masked.digest,
            frame=Frame.of(masked.frame),
        )

    def _stub(self, raw: RawRecord, too_large: tuple[int, str]) -> MaskedRecord:
        """What stands for a record that is not kept."""
        size, digest = too_large
        counts: Counter[str] = Counter()
        return mint(
            agent=raw.agent,
            source=self.path(raw.source),
            start=raw.start,
            end=raw.end,
            native=None,
            text=f"[a record of {size} bytes is not kept; its digest is {digest}]",
            body=b"",
            parts=(),
            companions={k: self._opaque(v, counts) for k, v in raw.companions.items()},
            damage=raw.damage,
            too_large=too_large,
            masks=dict(counts),
            rule_set=self.rule_set,
            digest=self.scanner.fingerprints.record(f"{size} {digest}".encode(), raw.companions),
        )

    def with_companions(self, record: MaskedRecord, files: Mapping[str, bytes]) -> MaskedRecord:
        """The record once more, with the files that it refers to, masked like itself.

        `digest` stays that of the record's own bytes: a copy whose companions differ is no other
        record.
        """
        counts = Counter(record.masks)
        fields = fields_of(record)
        fields["companions"] = {k: self._opaque(v, counts) for k, v in files.items()}
        fields["masks"] = dict(counts)
        return mint(**fields)

    def redact_any(self, raw: RawRecord, frame: Frame | None = None) -> MaskedRecord:
        """By `redact`, or by `redact_file` when the bytes are left in the file."""
        if _is_here(raw):
            return self.redact(raw, frame)
        return self.redact_file(raw, frame=frame if self._follows else None)

    def passes(self, source: str) -> bool:
        """Whether the person said that the records of a source are not masked."""
        return self._custom is not None and self._custom.passes(source)

    def _packed(self) -> str:
        return "" if self._custom is None else self._custom.rules.packed()

    def _as_it_is(
        self, raw: RawRecord, path: Path | None = None, *, whole: bool = False
    ) -> MaskedRecord:
        """A record of such a source. Its path is masked all the same."""
        from ultracontext.redaction.off import unmasking_redactor

        off = unmasking_redactor(self._secret)
        record = off.redact(raw, whole=whole) if path is None else off.redact_file(raw, path)
        fields = fields_of(record)
        return mint(**fields | {"rule_set": self.rule_set, "source": self.path(raw.source)})

    def text(self, text: str) -> str:
        """A single string, masked: a path, branch, host or error text."""
        return self.scanner.text(text)

    def document(self, text: str) -> MaskedText:
        """A whole text, masked under today's rules, whatever it was masked with before: for notes
        by agents, handoff documents, exports, and what is imported as text."""
        counts: Counter[str] = Counter()
        masked = self.scanner.mask([text], counts).get(0, text)
        return mint_text(masked, dict(counts), self.rule_set)

    def value(self, value: Any) -> Any:
        """A JSON value (the content of a message that a program appends), masked in a copy.

        Strings are masked as such, objects and lists like a record: keys, fields and what is cut
        over blocks. Raises RedactionError when it cannot be written as JSON.
        """
        try:
            data = dump_json({"value": value})
        except (TypeError, ValueError) as error:
            raise RedactionError(
                f"a value cannot be masked: {type(error).__name__}", hint="Give JSON"
            ) from None
        raw = RawRecord(agent="", source="", start=0, end=len(data), data=data)
        native = self.redact(raw, whole=True).native
        if native is None:
            raise RedactionError("a value cannot be masked", hint="Give JSON")
        return native["value"]

    def path(self, path: str) -> str:
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
            native = load_quickly(data)
            if type(native) is not dict:
                return None, b""
            found = collect(native, self._known, self._names)
            if not (found.exact and surely_exact(data, native, found.members)):
                native, found = self._slowly(data)
            joined = bool(found.lists) and mask_joined(found.lists, self.scanner, counts)
            if joined:
                again = collect(native, self._known, self._names)
                again.values += found.hidden
                found = again
        except ValueError:
            return None, b""
        texts = found.values + found.keys
        changed = self.scanner.mask(texts, counts) if texts else {}
        fields = self.scanner.fields(found.fields, changed, texts, counts) if found.fields else {}
        if not changed and not fields:
            self._learn(found.keys)
            return native, dump_json(native) if joined else data
        split = len(found.values)
        replace(
            native,
            {texts[i]: text for i, text in changed.items() if i < split},
            {texts[i]: text for i, text in changed.items() if i >= split},
            fields,
            self._names,
        )
        return native, dump_json(native)

    def _slowly(self, data: bytes) -> tuple[Any, Found]:
        dropped: list[dict[str, Any]] = []
        native = load_exactly(data, dropped)
        found = collect(native, self._known, self._names)
        if dropped:
            hidden = collect(dropped, self._known, self._names)
            found.hidden = hidden.values
            found.values += hidden.values
            found.keys += hidden.keys
            found.fields += hidden.fields
        return native, found

    def _learn(self, keys: Sequence[str]) -> None:
        if len(self._known) > 4096:
            self._known.clear()
        self._known.update((key, self._names.meaning(key)) for key in keys if len(key) <= 64)


def _measured(path: Path, start: int, end: int) -> tuple[int, str]:
    """Size and digest of a range, read piece by piece."""
    digest, left = blake2b(digest_size=16), end - start
    try:
        with path.open("rb") as file:
            file.seek(start)
            while left and (block := file.read(min(1 << 20, left))):
                digest.update(block)
                left -= len(block)
    except OSError as error:
        raise RedactionError(f"a large record cannot be read: {error.strerror}") from error
    return end - start, digest.hexdigest()
