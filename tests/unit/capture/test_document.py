"""Documents that are rewritten in place: whole, empty, cut, changed, left out."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from capture_lab import SECRET, TOY

from ultracontext.capture import document
from ultracontext.capture.document import UNFINISHED, cut, read_document
from ultracontext.capture.source import Change, Look, Source
from ultracontext.errors import CaptureError
from ultracontext.formats import DocumentShape, Engine, SourceFacts
from ultracontext.store.base import Checkpoint

SHAPE = DocumentShape(items="messages")
WHOLE = {"sessionId": "s", "messages": [{"id": "a", "n": 1}, {"id": "b"}, {"x": None}, 7]}


class Desk:
    """One document and its source; `again` is what the next run of the daemon makes of it."""

    def __init__(self, path: Path, data: bytes, shape: DocumentShape | None = SHAPE) -> None:
        self.path = path
        path.write_bytes(data)
        self.facts = SourceFacts(engine=Engine.DOCUMENT, document=shape)
        saved = Checkpoint(
            source_id=1, agent="toy", path="", path_digest=b"", device=0, inode=0, fingerprint=b"",
            fingerprint_length=0, size=0, mtime_ns=0, ctime_ns=0, position=0, ordinal=0, prefix=b"",
        )  # fmt: skip
        self.source = self._source(saved, stored=False)

    def _source(self, saved: Checkpoint, *, stored: bool) -> Source:
        return Source(
            spec=TOY, path=str(self.path), masked_path=str(self.path), facts=self.facts,
            look=Look.of(self.path.stat()), saved=saved, position=saved.position,
            ordinal=saved.ordinal, branch=None, stored=stored,
        )  # fmt: skip

    def again(self) -> None:
        self.source = self._source(self.source.checkpoint(SECRET), stored=True)

    def write(self, data: bytes) -> None:
        with self.path.open("r+b") as out:
            out.truncate(0)
            out.write(data)

    def read(self) -> list[bytes]:
        part = read_document(self.source, SECRET)
        assert not part.more
        if not part.records:
            self.source.seen = self.source.look
        return [record.data for record in part.records]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "a.json", json.dumps(WHOLE, indent=2).encode())


def parsed(found: list[bytes]) -> list[object]:
    return [json.loads(data) for data in found]


def test_the_head_comes_first_with_ids_in_place_of_the_list(desk: Desk) -> None:
    head = {"sessionId": "s", "messages": ["a", "b", None, None]}
    assert parsed(desk.read()) == [head, *WHOLE["messages"]]
    assert desk.source.position == desk.path.stat().st_size
    assert desk.source.ordinal == 0


def test_places_are_those_of_the_elements(desk: Desk) -> None:
    data = desk.path.read_bytes()
    records = read_document(desk.source, SECRET).records
    assert records[0].start == 0
    for record in records[1:]:
        assert json.loads(data[record.start : record.end]) == json.loads(record.data)
    assert records[0].end == records[1].start
    assert all(a.end <= b.start for a, b in pairwise(records))


def test_an_unchanged_document_is_not_read_again(desk: Desk) -> None:
    desk.read()
    assert desk.read() == []
    desk.again()
    assert desk.read() == []
    os.utime(desk.path)
    assert desk.read() == []
    assert desk.source.problem is None


def test_a_rewritten_document_is_read_as_a_whole(desk: Desk) -> None:
    desk.read()
    before = desk.path.stat()
    desk.write(desk.path.read_bytes().replace(b'"a"', b'"c"'))
    os.utime(desk.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert parsed(desk.read())[1] == {"id": "c", "n": 1}


@pytest.mark.parametrize("keep", [0, 1, 40, -1])
def test_an_empty_or_cut_document_waits(desk: Desk, keep: int) -> None:
    whole = desk.path.read_bytes()
    desk.read()
    desk.write(whole[:keep])
    assert desk.read() == []
    assert desk.source.problem == UNFINISHED
    desk.write(whole.replace(b'"b"', b'"d"'))
    assert len(desk.read()) == 5
    assert desk.source.problem is None


def test_a_document_that_stays_broken_is_damaged_at_the_second_look(desk: Desk) -> None:
    desk.write(b'{"messages": [')
    assert desk.read() == []
    for _ in range(2):
        with pytest.raises(CaptureError) as caught:
            desk.read()
        assert caught.value.code == "damaged"
        desk.source.problem = "damaged"
    desk.write(b'{"messages": [{"id')
    assert desk.read() == []


def test_a_document_that_stays_broken_is_damaged_in_the_next_run(desk: Desk) -> None:
    desk.write(b'{"messages": [')
    assert desk.read() == []
    assert desk.source.dirty
    desk.again()
    with pytest.raises(CaptureError):
        desk.read()


def test_a_failed_commit_reads_the_document_again(desk: Desk) -> None:
    desk.read()
    desk.source.restore()
    assert len(desk.read()) == 5


def test_another_file_at_the_path_is_said(desk: Desk) -> None:
    desk.path.rename(desk.path.with_suffix(".old"))
    desk.path.write_bytes(b"{}")
    assert read_document(desk.source, SECRET).change is Change.REPLACED
    desk.path.unlink()
    with pytest.raises(FileNotFoundError):
        read_document(desk.source, SECRET)


def test_a_document_above_the_limit_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "LIMIT_BYTES", 10)
    with pytest.raises(CaptureError) as caught:
        desk.read()
    assert caught.value.code == "too-large"


def test_a_large_element_is_left_to_its_place(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "INLINE_BYTES", 60)
    desk.write(json.dumps({"messages": [{"id": "a", "text": "x" * 80}]}).encode())
    large = read_document(desk.source, SECRET).records[1]
    assert large.data == b""
    assert json.loads(desk.path.read_bytes()[large.start : large.end])["id"] == "a"


def test_what_the_backfill_leaves_out_is_read_once_it_changes(desk: Desk) -> None:
    desk.source.skip_until = desk.path.stat().st_size
    desk.again()
    desk.source.skip_until = desk.path.stat().st_size
    assert desk.read() == []
    assert desk.source.pending_bytes == 0
    desk.write(json.dumps(WHOLE).encode())
    assert len(desk.read()) == 5
    assert desk.source.skip_until == 0


def test_a_text_is_one_record(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "a.txt", "user:\nhello \udcff".encode("utf-8", "surrogateescape"), None)
    assert parsed(desk.read()) == [{"text": "user:\nhello \\xff"}]


@pytest.mark.parametrize(
    "number", ["1.00", "1e400", "123456789012345678901234567890", "0.1000000000000000055511151"]
)
def test_numbers_keep_their_digits(number: str) -> None:
    data = f'{{"x": {number}, "messages": [{{"id": "a", "n": [ {number} ]}}]}}'.encode()
    found = cut(data, SHAPE)
    assert found is not None
    assert [p.data for p in found] == [
        f'{{"x":{number},"messages":["a"]}}'.encode(), f'{{"id":"a","n":[{number}]}}'.encode()
    ]  # fmt: skip


@pytest.mark.parametrize("odd", [b"NaN", b'"\\ud83d"', b'"\xff"', b"-Infinity", b'"\\u0000"'])
def test_odd_values_survive(odd: bytes) -> None:
    found = cut(b'{"messages": [{"id": "a", "v": ' + odd + b"}]}", SHAPE)
    assert found is not None
    assert json.loads(found[0].data) == {"messages": ["a"]}
    value = json.loads(found[1].data)["v"]
    again = json.loads(odd.decode("utf-8", "surrogateescape"))
    assert value == again or value != value


def test_a_top_level_list_is_the_list() -> None:
    found = cut(b'[{"role": "user"}, {"id": "b"}]', DocumentShape(items="history"))
    assert found is not None
    assert [json.loads(p.data) for p in found] == [
        {"history": [None, "b"]}, {"role": "user"}, {"id": "b"}
    ]  # fmt: skip


def test_a_document_without_its_list_is_one_record() -> None:
    for data in (b'{"a": 1}', b'{"messages": {"a": 1}}', b'{"a": NaN}'):
        found = cut(data, SHAPE)
        assert found is not None
        assert len(found) == 1


def test_a_byte_order_mark_is_no_harm() -> None:
    found = cut(b"\xef\xbb\xbf" + json.dumps(WHOLE).encode(), SHAPE)
    assert found is not None
    assert len(found) == 5


def test_a_document_nested_too_deeply_is_one_record_as_it_is() -> None:
    data = b'{"messages": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}"
    found = cut(data, SHAPE)
    assert found is not None
    assert [p.data for p in found] == [data]


def test_lines_under_the_name_of_a_document_are_read_as_lines() -> None:
    data = b'{"sessionId": "s"}\n{"id": "a"}\r\n\n{"id": "b'
    found = cut(data, SHAPE)
    assert found is not None
    assert [p.data for p in found] == [b'{"sessionId": "s"}', b'{"id": "a"}']
    assert [data[p.start : p.end].strip() for p in found] == [p.data for p in found]


@pytest.mark.parametrize("data", [b"", b"  \n", b"\0\0", b"{", b'{"messages": [{"id": "a"}', b"no"])
def test_what_is_no_document_is_none(data: bytes) -> None:
    assert cut(data, SHAPE) is None


def test_every_cut_of_a_document_is_none_or_whole() -> None:
    data = json.dumps(WHOLE, indent=2).encode()
    for end in range(len(data)):
        assert cut(data[:end], SHAPE) is None


def test_a_million_numbers_are_cut_without_being_built() -> None:
    data = msgspec.json.encode({"messages": [{"id": str(i), "n": i} for i in range(20_000)]})
    found = cut(data, SHAPE)
    assert found is not None
    assert len(found) == 20_001
