"""Splitting and salvage: nothing lost, nothing guessed."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from ultracontext.capture.lines import salvage, split_lines


def pieces(line: bytes) -> list[tuple[bytes, str | None]]:
    return [(p.data, p.damage) for p in salvage(line)]


def test_lines_split_at_lf_only_p07() -> None:
    text = json.dumps({"t": "a\u2028b\u0085c\x0cd"}, ensure_ascii=False).encode()
    assert list(split_lines(text + b"\n", 0)) == [(0, len(text) + 1, text)]


def test_crlf_blank_lines_and_byte_order_mark_are_no_content() -> None:
    chunk = b'\xef\xbb\xbf{"a":1}\r\n\n  \n{"b":2}\n'
    assert [data for _, _, data in split_lines(chunk, 0)] == [b'{"a":1}', b'{"b":2}']


def test_mark_in_the_middle_of_a_file_is_kept() -> None:
    assert [d for _, _, d in split_lines(b"\xef\xbb\xbfx\n", 10)] == [b"\xef\xbb\xbfx"]


def test_lone_carriage_return_stays_inside_the_record() -> None:
    assert [d for _, _, d in split_lines(b'{"a":"x\ry"}\n', 0)] == [b'{"a":"x\ry"}']


def test_fused_record_is_recovered_and_the_cut_one_kept_p04() -> None:
    second = b'{"type":"user","uuid":"u2","message":{"role":"user","content":"hi"}}'
    assert pieces(b'{"type":"pr-link","prNu' + second) == [
        (b'{"type":"pr-link","prNu', "fused"),
        (second, None),
    ]


def test_torn_tail_swallowed_by_the_next_append_p05() -> None:
    second = b'{"type":"user","timestamp":"2026-01-01T00:00:00Z"}'
    assert pieces(b'{"a":1,"t":"tor' + second) == [
        (b'{"a":1,"t":"tor', "fused"),
        (second, None),
    ]


def test_two_whole_records_on_one_line() -> None:
    assert pieces(b'{"a":1}{"b":2}') == [(b'{"a":1}', None), (b'{"b":2}', None)]


def test_nul_block_is_one_damaged_piece_p03() -> None:
    assert pieces(b"\0" * 512) == [(b"\0" * 512, "nul")]


def test_record_after_a_nul_block_is_recovered() -> None:
    assert pieces(b"\0\0\0" + b'{"a":1}') == [(b"\0\0\0", "nul"), (b'{"a":1}', None)]


def test_record_cut_by_nuls_and_followed_by_a_sound_one() -> None:
    assert pieces(b'{"type":"a\0\0\0{"type":"b"}') == [
        (b'{"type":"a', "fused"),
        (b"\0\0\0", "nul"),
        (b'{"type":"b"}', None),
    ]


def test_inner_object_of_a_cut_record_is_not_taken_for_a_record() -> None:
    cut = b'{"type":"user","message":{"role":"user","content":"hi"}'
    assert pieces(cut) == [(cut, "cut")]


def test_garbage_is_one_piece() -> None:
    assert pieces(b"%PDF-1.7 nothing") == [(b"%PDF-1.7 nothing", "cut")]


@given(st.binary(max_size=400).filter(lambda b: b"\n" not in b))
def test_pieces_cover_every_byte_but_white_space(line: bytes) -> None:
    found = salvage(line)
    place = 0
    for piece in found:
        assert line[place : piece.offset].strip(b" \t\r") == b""
        assert piece.data == line[piece.offset : piece.offset + len(piece.data)]
        assert piece.data
        place = piece.offset + len(piece.data)
    assert line[place:].strip(b" \t\r\0") == b""


objects = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=10), max_size=4)


@given(st.lists(objects, min_size=1, max_size=5), st.integers(0, 3))
def test_sound_records_are_all_recovered(values: list[dict[str, object]], nuls: int) -> None:
    line = (b"\0" * nuls).join(json.dumps(v).encode() for v in values)
    sound = [json.loads(data) for data, damage in pieces(line) if damage is None]
    assert sound == values
