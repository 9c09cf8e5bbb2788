"""A private key over records that are read apart: in other batches, by other engines."""

from __future__ import annotations

import base64
import json
import random
from itertools import pairwise
from pathlib import Path

import pytest
from capture_lab import Lab, lines, record

BODY = base64.b64encode(random.Random(5).randbytes(700)).decode()
LINES = [BODY[i : i + 64] for i in range(0, len(BODY), 64)]
KEY = "\n".join(["-----BEGIN RSA PRIVATE " + "KEY-----", *LINES, "-----END RSA PRIVATE KEY-----"])
CUTS = (3, 100, 310, 500, len(KEY) - 12)


def pieces() -> list[str]:
    places = (0, *CUTS, len(KEY))
    return [KEY[a:b] for a, b in pairwise(places)]


def clear(lab: Lab) -> list[str]:
    """Lines of the key that stand in a file of ours, the write-ahead log included."""
    data = b"".join(p.read_bytes() for p in (lab.folder / "home").rglob("*") if p.is_file())
    said = "\n".join(lab.texts())
    return [line for line in LINES if line[8:40].encode() in data or line[8:40] in said]


def told(n: int, text: str) -> bytes:
    return lines([record(n, text=text)])


def test_batches_apart(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    engine = lab.engine()
    for number, piece in enumerate(pieces()):
        lab.append(told(number, piece))
        engine.run_once()
    lab.append(told(99, "that was it"))
    engine.run_once()
    assert clear(lab) == []
    assert lab.texts()[-1] == "that was it"
    assert [text.startswith("[redacted:private-key:") for text in lab.texts()[1:-1]] == [True] * 5


def test_another_engine_goes_on(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    for number, piece in enumerate(pieces()):
        lab.append(told(number, piece))
        lab.run()
        states = [c.state for c in lab.space.checkpoints()]
        assert not any(line[:12] in json.dumps(states) for line in LINES)
        assert ("frame" in states[0]) == (number < len(CUTS))
        lab.reopen()
    lab.append(told(99, BODY[:64]))
    lab.run()
    assert lab.texts()[-1] == BODY[:64]
    assert not [text for text in lab.texts()[1:-1] if "[redacted:private-key:" not in text]


@pytest.mark.parametrize("point", ["after_read", "after_redact", "after_assign", "after_feed"])
def test_killed_between(tmp_path: Path, point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read and not stored is read again, under the frame that was stored."""
    lab = Lab(tmp_path)

    def die(name: str) -> None:
        if name == point:
            raise SystemExit(name)

    for number, piece in enumerate(pieces()):
        lab.append(told(number, piece))
        with monkeypatch.context() as patch:
            for module in ("ultracontext.capture.ingest",):
                patch.setattr(f"{module}.failpoint", die)
            with pytest.raises(SystemExit):
                lab.run()
        lab.reopen()
        lab.run()
    assert clear(lab) == []
    assert len(lab.texts()) == len(pieces())


def test_a_store_that_refuses_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Lab(tmp_path)
    engine = lab.engine()
    parts = pieces()
    lab.append(told(0, parts[0]) + told(1, parts[1]))
    engine.run_once()
    lab.append(told(2, parts[2]))
    engine.run_once()
    source = next(iter(engine._registry._by_path.values()))
    assert source.frame is not None
    source.restore()
    assert source.frame is not None
    assert source.frame.kind == "private-key"
    for number, piece in enumerate(parts[3:], 3):
        lab.append(told(number, piece))
    engine.run_once()
    assert clear(lab) == []


def test_a_rewritten_file_begins_without_a_frame(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.append(told(0, pieces()[0] + pieces()[1]))
    lab.run()
    lab.write(told(5, BODY[:64]) + told(6, "another"))
    lab.run()
    assert BODY[:64] in lab.texts(every=True)


def test_a_damaged_line_under_a_frame(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    parts = pieces()
    lab.append(told(0, parts[0] + parts[1]))
    lab.run()
    lab.append(b"\n".join(line.encode() for line in LINES[2:6]) + b"\n")
    lab.append(b'{"text": "' + LINES[6].encode() + b'\n{"id": "r7", "text": "x"}\n')
    lab.run()
    assert not [line for line in clear(lab) if line in LINES[2:6]]
