"""R15: what cannot be masked is not stored; its source waits, says so, and goes on when mended."""

from __future__ import annotations

from pathlib import Path

import pytest
from capture_lab import SECRET, TOY, Lab, lines, record, redactor

from ultracontext.capture import CaptureEngine, CaptureOptions
from ultracontext.errors import RedactionError
from ultracontext.redaction.engine import Candidate
from ultracontext.redaction.scan import Scanner


class BrokenEngine:
    """Raises for texts that hold a word, while it is broken."""

    def __init__(self) -> None:
        self._sound = redactor().scanner.engine
        self.name = self._sound.name
        self.word = b"unscannable"

    def candidates(self, data: bytes) -> list[Candidate]:
        if self.word and self.word in data:
            raise RedactionError("the redaction engine failed", hint="Report it")
        return self._sound.candidates(data)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


@pytest.fixture
def broken(lab: Lab) -> BrokenEngine:
    from ultracontext.redaction import Redactor

    engine = BrokenEngine()
    sound = redactor()
    scanner = Scanner(sound.scanner.rules, engine, sound.scanner.fingerprints)
    lab.redactor = Redactor(scanner, sound.rule_set, SECRET)
    return engine


def engine_of(lab: Lab, clock: list[float]) -> CaptureEngine:
    return CaptureEngine(
        store=lab.space, redactor=lab.redactor, secret=SECRET, agents=[TOY],
        roots={"toy": lab.roots}, options=CaptureOptions(), now=lambda: lab.now,
        monotonic=lambda: clock[0],
    )  # fmt: skip


def work(engine: CaptureEngine) -> None:
    while engine._work():
        pass


def codes(engine: CaptureEngine) -> list[str]:
    return [problem["code"] for problem in engine.status().problems]


def test_r15_a_run_names_the_source_and_stores_the_others(lab: Lab, broken: BrokenEngine) -> None:
    lab.write(lines([record(1), record(2, text="unscannable")]))
    lab.write(lines([record(1, session="s2")]), "b.log")
    summary = lab.run()
    assert [error.code for error in summary.errors] == ["redaction"]
    assert lab.texts() == []
    assert len(lab.texts("s2")) == 1


def test_r15_capture_goes_on_by_itself_and_the_problem_ends(lab: Lab, broken: BrokenEngine) -> None:
    lab.write(lines([record(1), record(2, text="unscannable")]))
    lab.write(lines([record(1, session="s2", text="unscannable too")]), "b.log")
    lab.write(lines([record(1, session="s3")]), "c.log")
    clock = [1000.0]
    engine = engine_of(lab, clock)
    engine.sweep()
    work(engine)
    assert codes(engine) == ["redaction"]
    assert lab.sessions() == ["s3"]
    clock[0] += 100
    work(engine)
    assert codes(engine) == ["redaction"]
    broken.word = b"unscannable too"
    clock[0] += 200
    work(engine)
    assert lab.texts() == ["text 1", "unscannable"]
    assert codes(engine) == ["redaction"]
    broken.word = b""
    clock[0] += 400
    work(engine)
    assert lab.sessions() == ["s1", "s2", "s3"]
    assert codes(engine) == []
