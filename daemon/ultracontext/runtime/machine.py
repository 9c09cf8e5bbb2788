"""Reads agents' sources to their end, without a store and without a daemon: for a switch.

The same cutting, masking and assigning as capture does, in one go and in memory.
"""

from __future__ import annotations

import json
import mmap
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import zstandard

from ultracontext.capture.database import all_records, answers
from ultracontext.capture.discover import Found, Walk
from ultracontext.capture.document import cut
from ultracontext.capture.lines import salvage, split_lines
from ultracontext.capture.places import NEED_LIMIT_BYTES, fetch_need, opened, read_at
from ultracontext.errors import CaptureError
from ultracontext.formats import AgentSpec, Assigner, Assignment, Engine, Lookup, SourceFacts
from ultracontext.model import Base, RawRecord, event_id, message_id
from ultracontext.redaction import MaskedRecord, Redactor
from ultracontext.switch.machine import SourceFile
from ultracontext.switch.session import Fed, MaskedSession

POLL_SECONDS = 0.05
ACROSS = 256
"""Neighbouring records that are looked at together for secrets that were cut in two."""
PROBED = 20
DEEPEST = 16
WINDOW_BYTES = 64 << 20
MOST_ANSWERS = 5000
LARGEST_BYTES = 2 << 30


class LocalMachine:
    """The agents' folders on this machine."""

    def __init__(
        self,
        agents: Mapping[str, AgentSpec],
        roots: Mapping[str, Sequence[Path]],
        redactor: Redactor,
        *,
        masked: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._agents = agents
        self._roots = roots
        self._redactor = redactor
        self._masked = masked
        self._clock = clock

    def files(self, agents: Iterable[str]) -> list[SourceFile]:
        specs = [self._agents[slug] for slug in agents if slug in self._agents]
        walk = Walk(specs, self._roots, lambda _path: None, lambda _path, _stat: False)
        found = [_source(one) for one in walk if one.path not in self._single(one.spec)]
        return sorted(found, key=lambda file: file.modified_at, reverse=True)

    def _single(self, spec: AgentSpec) -> set[str]:
        return {
            os.fspath(Path(root) / name) for root in self._roots.get(spec.slug, ())
            for name in spec.files
        }  # fmt: skip

    def may_mention(self, file: SourceFile, folders: Sequence[str]) -> bool:
        """Looks for the bytes, where an agent's records name their folder themselves."""
        facts = self._facts(file)
        if facts is None or file.spec.folder_of is None or facts.engine is not Engine.APPEND_LOG:
            return True
        needles = {json.dumps(f, ensure_ascii=a)[1:-1].encode("utf-8", "surrogatepass")
                   for f in folders for a in (True, False)}  # fmt: skip
        try:
            with (
                opened(os.fspath(file.path)) as descriptor,
                mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as data,
            ):
                return any(data.find(needle) >= 0 for needle in needles)
        except (OSError, ValueError):
            return False

    def read(self, file: SourceFile, *, wait_seconds: float = 0.0) -> list[MaskedSession]:
        facts = self._facts(file)
        if facts is None:
            return []
        try:
            raws = list(self._raw(file, facts, wait_seconds))
        except OSError as error:
            raise CaptureError(
                f"{file.path} cannot be read: {error.strerror or type(error).__name__}"
            ) from error
        return [
            self._session(file, name, fed, depth=0)
            for name, fed in self._assigned(file, facts, raws).items()
        ]

    def answers(self, root: Path, lookups: Sequence[Lookup], session_id: str) -> Mapping[str, Any]:
        found: dict[str, Any] = {}
        queries: dict[str, dict[str, str]] = {}
        for lookup in lookups:
            path = os.fspath(root / lookup.path)
            if "*" in lookup.path:
                found[lookup.name] = _texts(root, lookup.path)
            elif lookup.sql is None:
                found[lookup.name] = _text(path)
            else:
                queries.setdefault(path, {})[lookup.name] = lookup.sql
        for path, asked in queries.items():
            found |= answers(path, asked, {"session_id": session_id})
        return found

    # ---- records ---------------------------------------------------------------------------------
    def _facts(self, file: SourceFile) -> SourceFacts | None:
        from pathlib import PurePosixPath

        with suppress(ValueError):
            return file.spec.classify(PurePosixPath(file.path.relative_to(file.root).as_posix()))
        return None

    def _raw(
        self, file: SourceFile, facts: SourceFacts, wait_seconds: float
    ) -> Iterator[RawRecord]:
        slug, path = file.spec.slug, os.fspath(file.path)

        def raw(start: int, end: int, data: bytes, damage: str | None = None) -> RawRecord:
            return RawRecord(
                agent=slug, source=path, start=start, end=end, data=data, damage=damage
            )

        if facts.engine is Engine.DATABASE:
            for number, data in enumerate(all_records(path, facts.queries)):
                yield raw(number, number + 1, data)
            return
        if facts.engine is Engine.DOCUMENT:
            whole = self._document(path, facts, wait_seconds)
            yield from (raw(piece.start, piece.end, piece.data) for piece in whole)
            return
        if facts.engine is Engine.COMPRESSED_LOG:
            data = _decompressed(_all(path))
        else:
            data = self._log(path, wait_seconds)
        if data and not data.endswith(b"\n") and _is_object(data[data.rfind(b"\n") + 1 :]):
            data += b"\n"
        for start, end, line in split_lines(data, 0):
            if line.startswith(b"{") and line.endswith(b"}"):
                yield raw(start, end, line)
                continue
            for piece in salvage(line):
                place = start + piece.offset
                yield raw(place, place + len(piece.data), piece.data, piece.damage)

    def _log(self, path: str, wait_seconds: float) -> bytes:
        """The bytes, once the last record is whole or the time is over."""
        ends = self._clock() + wait_seconds
        while True:
            data = _all(path)
            last = data[data.rfind(b"\n") + 1 :]
            if not last.strip() or _is_object(last) or self._clock() >= ends:
                return data
            time.sleep(POLL_SECONDS)

    def _document(self, path: str, facts: SourceFacts, wait_seconds: float) -> list[Any]:
        ends = self._clock() + wait_seconds
        while True:
            pieces = cut(_all(path), facts.document)
            if pieces is not None or self._clock() >= ends:
                return pieces or []
            time.sleep(POLL_SECONDS)

    def _masked_all(self, raws: Sequence[RawRecord]) -> list[MaskedRecord]:
        masked = [self._redactor.redact(raw, whole=True) for raw in raws]
        if not self._masked:
            return masked
        out: list[MaskedRecord] = []
        for start in range(0, len(masked), ACROSS):
            part = slice(start, start + ACROSS)
            out += self._redactor.across(raws[part], masked[part])
        return out

    def _assigned(
        self, file: SourceFile, facts: SourceFacts, raws: Sequence[RawRecord]
    ) -> dict[str, list[Fed]]:
        """Records by session. One that comes again under its id takes the place of the first."""
        roots = [os.path.realpath(root) for root in self._roots.get(file.spec.slug, ())]
        assigner = file.spec.assigner(facts, None)
        fed: dict[str, list[Fed]] = {}
        places: dict[tuple[str, str], int] = {}
        for number, record in enumerate(self._masked_all(raws)):
            assignment, whole = self._assign(assigner, record, raws[number].source, roots)
            session = assignment.session_id
            if session is None or assignment.skip is not None:
                continue
            key = number if assignment.record_id is None else assignment.record_id
            event = event_id(file.spec.slug, session, key, assignment.revision or 0)
            one = (whole, message_id(event))
            known = places.get((session, str(key))) if assignment.record_id is not None else None
            here = fed.setdefault(session, [])
            if known is not None and assignment.revision is None:
                if here[known][0].digest != whole.digest:
                    here[known] = one
                continue
            places[session, str(key)] = len(here)
            here.append(one)
        return fed

    def _assign(
        self, assigner: Assigner, record: MaskedRecord, source: str, roots: list[str]
    ) -> tuple[Assignment, MaskedRecord]:
        assignment = assigner.assign(record)
        files: dict[str, bytes] = {}
        for need in assignment.needs:
            data = fetch_need(need, source, roots)
            if data is not None:
                files[need.name] = data
        if not files:
            return assignment, record
        whole = self._redactor.with_companions(record, files)
        return assigner.assign(whole), whole

    # ---- sessions --------------------------------------------------------------------------------
    def _session(self, file: SourceFile, name: str, fed: list[Fed], depth: int) -> MaskedSession:
        """With its beginning in another session, and what single files say of it."""
        whole = [*self._beginning(file, name, fed, depth), *fed, *self._said(file, name)]
        return MaskedSession.of(
            file.spec, name, whole, path=os.fspath(file.path), masked=self._masked
        )

    def _beginning(self, file: SourceFile, name: str, fed: list[Fed], depth: int) -> Iterator[Fed]:
        reader = file.spec.reader(name)
        base: Base | None = None
        for record, ident in fed[:PROBED]:
            with suppress(Exception):
                reader.feed(record, ident)
        base = reader.facts().base
        if base is None or depth >= DEEPEST or base.session_id == name:
            return
        judge = file.spec.reader(name)
        for other in self.files([file.spec.slug]):
            if other.hint != base.session_id:
                continue
            facts = self._facts(other)
            if facts is None:
                continue
            raws = list(self._raw(other, facts, 0.0))
            found = self._assigned(other, facts, raws).get(base.session_id)
            if found is None:
                continue
            for one in [*self._beginning(other, base.session_id, found, depth + 1), *found]:
                if judge.covers(one[0], base):
                    yield one
            return

    def _said(self, file: SourceFile, name: str) -> Iterator[Fed]:
        for single in file.spec.files:
            path = file.root / single
            facts = self._facts(
                SourceFile(spec=file.spec, root=file.root, path=path, modified_at=file.modified_at)
            )
            if facts is None or not path.is_file():
                continue
            needle = name.encode("utf-8", "surrogatepass")
            with suppress(OSError):
                lines = [line for line in _all(os.fspath(path)).split(b"\n") if needle in line]
                source = SourceFile(
                    spec=file.spec, root=file.root, path=path, modified_at=file.modified_at
                )
                raws = [
                    RawRecord(
                        agent=file.spec.slug, source=os.fspath(path), start=0, end=len(line),
                        data=line,
                    )
                    for line in lines
                ]  # fmt: skip
                yield from self._assigned(source, facts, raws).get(name, [])


def _source(found: Found) -> SourceFile:
    return SourceFile(
        spec=found.spec,
        root=Path(found.root),
        path=Path(found.path),
        modified_at=datetime.fromtimestamp(found.look.mtime_ns / 1e9, UTC),
        hint=found.facts.session_hint,
        role=found.facts.role,
    )


def _all(path: str) -> bytes:
    with opened(path) as descriptor:
        return read_at(descriptor, 0, LARGEST_BYTES)


def _text(path: str) -> str | None:
    try:
        with opened(path, getattr(os, "O_NONBLOCK", 0)) as descriptor:
            return read_at(descriptor, 0, NEED_LIMIT_BYTES).decode("utf-8", "replace")
    except OSError:
        return None


def _texts(root: Path, pattern: str) -> dict[str, str]:
    paths = [path for path, _ in zip(root.glob(pattern), range(MOST_ANSWERS), strict=False)]
    texts = {path.relative_to(root).as_posix(): _text(os.fspath(path)) for path in sorted(paths)}
    return {path: text for path, text in texts.items() if text is not None}


def _decompressed(data: bytes) -> bytes:
    out = b""
    try:
        while data:
            reader = zstandard.ZstdDecompressor(max_window_size=WINDOW_BYTES).decompressobj()
            out += reader.decompress(data)
            data = reader.unused_data if reader.eof else b""
    except zstandard.ZstdError as error:
        raise CaptureError("a compressed session is damaged", code="damaged") from error
    return out


def _is_object(line: bytes) -> bool:
    try:
        return type(json.loads(line)) is dict
    except (ValueError, RecursionError):
        return False
