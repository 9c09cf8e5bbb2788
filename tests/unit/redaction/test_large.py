"""Records that a process of their own masks."""

from __future__ import annotations

import base64
import json
import random
import sys
from pathlib import Path

import pytest
from redaction_corpus import raw

from ultracontext.errors import RedactionError
from ultracontext.model import RawRecord
from ultracontext.redaction import Redactor, join_parts, large
from ultracontext.redaction.confirm import MASK

TOKEN = "gh" + "p_N0tReAl3ahovCJQX4bipwDKRY5cjqxELSZ6d"


def written(path: Path, value: object) -> RawRecord:
    line = json.dumps(value, separators=(",", ":")).encode()
    path.write_bytes(b"{}\n" + line + b"\n{}\n")
    return RawRecord(agent="claude", source=str(path), start=3, end=3 + len(line) + 1, data=b"")


def test_the_child_gives_what_this_process_would(redactor: Redactor, tmp_path: Path) -> None:
    value = {"type": "user", "t": "lorem ipsum\n" * 900_000 + TOKEN, "n": [1, 2.5, None, TOKEN]}
    record = written(tmp_path / "s.jsonl", value)
    far = redactor.redact_file(record)
    near = redactor.redact(raw(value))
    assert far.body == near.body
    assert far.digest == near.digest
    assert far.masks == near.masks
    assert far.parts[0].digest == near.parts[0].digest
    assert len(far.parts[0].stored) < 1_000_000
    assert TOKEN.encode() not in join_parts(far.body, far.parts)
    assert join_parts(far.body, far.parts) == join_parts(near.body, near.parts)


def test_very_many_strings_leave_a_small_body(redactor: Redactor, tmp_path: Path) -> None:
    value = {"t": [f"{i} " + "lorem ipsum " * 900 for i in range(1200)]}
    record = redactor.redact_file(written(tmp_path / "s.jsonl", value))
    assert len(record.body) < 8 << 20
    assert json.loads(join_parts(record.body, record.parts)) == value


def test_what_does_not_parse_is_a_stub(redactor: Redactor, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"cut": "' + TOKEN.encode() * 10)
    record = redactor.redact_file(
        RawRecord(agent="a", source=str(path), start=0, end=100, data=b"")
    )
    assert record.native is None
    assert record.too_large is not None
    assert record.too_large[0] == 100
    assert TOKEN not in str(record.text)


def test_a_child_that_is_too_slow_is_ended(redactor: Redactor, tmp_path: Path) -> None:
    record = redactor.redact_file(
        written(tmp_path / "s.jsonl", {"t": TOKEN}), timeout_seconds=0.001
    )
    assert record.too_large is not None
    assert record.native is None


@pytest.mark.parametrize(
    "program",
    [
        "import sys; sys.exit(1)",
        "import os; os.kill(os.getpid(), 9)",
        "print('x' * 100)",
        "import sys; sys.stdout.buffer.write((2**62).to_bytes(8, 'big'))",
        "import sys; sys.stdout.buffer.write((2).to_bytes(8, 'big') + b'{}')",
    ],
)
def test_a_child_that_misbehaves_gives_a_stub(
    redactor: Redactor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(large, "_START", program)
    record = redactor.redact_file(written(tmp_path / "s.jsonl", {"t": TOKEN}))
    assert record.too_large is not None
    assert TOKEN not in str(record.text)


@pytest.mark.parametrize("rule_set", [1, 2**62])
def test_a_child_with_other_rules_stops_the_source(
    redactor: Redactor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule_set: int
) -> None:
    monkeypatch.setattr(redactor, "rule_set", rule_set)
    with pytest.raises(RedactionError) as caught:
        redactor.redact_file(written(tmp_path / "s.jsonl", {"t": TOKEN}))
    assert TOKEN not in str(caught.value)


def test_a_child_whose_rules_do_not_load_stops_the_source(
    redactor: Redactor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redactor, "engine", "none of ours")
    with pytest.raises(RedactionError):
        redactor.redact_file(written(tmp_path / "s.jsonl", {"t": TOKEN}))


def test_the_digests_of_a_child_are_noted(redactor: Redactor, tmp_path: Path) -> None:
    redactor.scanner.fingerprints.drain()
    record = redactor.redact_file(written(tmp_path / "s.jsonl", {"t": TOKEN}))
    (mask,) = MASK.findall(record.body)
    noted = {digest.hex()[:8] for digest in redactor.scanner.fingerprints.drain()}
    assert mask.decode()[-9:-1] in noted


def test_a_frame_goes_into_a_child_and_out_of_it(redactor: Redactor, tmp_path: Path) -> None:
    line = base64.b64encode(random.Random(3).randbytes(48)).decode()
    head = "-----BEGIN PRIVATE " + "KEY-----\n"
    first = redactor.redact_file(written(tmp_path / "a.jsonl", {"text": f"x\n{head}{line}\n"}))
    assert first.frame is not None
    second = redactor.redact_file(
        written(tmp_path / "b.jsonl", {"text": f"{line}\n{line}"}), frame=first.frame
    )
    assert second.frame is not None
    assert second.frame.mask == first.frame.mask
    assert line.encode() not in second.body
    third = redactor.redact_any(raw({"text": "that is it"}), second.frame)
    assert third.frame is None


def test_a_file_that_is_gone_is_an_error(redactor: Redactor, tmp_path: Path) -> None:
    with pytest.raises(RedactionError):
        redactor.redact_file(
            RawRecord(agent="a", source=str(tmp_path / "none"), start=0, end=10, data=b"")
        )


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_key_is_in_no_argument_and_no_variable(
    redactor: Redactor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen_file = str(tmp_path / "seen")
    spy = (
        "import sys; order = sys.stdin.read();"
        f"open({seen_file!r}, 'wb').write(open('/proc/self/cmdline','rb').read()"
        " + open('/proc/self/environ','rb').read())"
    )
    monkeypatch.setattr(large, "_START", spy)
    redactor.redact_file(written(tmp_path / "s.jsonl", {"t": 1}))
    seen = (tmp_path / "seen").read_bytes()
    assert redactor._secret not in seen
    assert redactor._secret.hex().encode() not in seen
