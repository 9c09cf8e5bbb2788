from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from ultracontext import logs
from ultracontext.logs import RepeatLimit, RotatingFile


@pytest.fixture(autouse=True)
def quiet_again() -> Iterator[None]:
    yield
    logs.configure()
    structlog.reset_defaults()


def int_of(text: str) -> int:
    return int(text)


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_json_lines_in_a_private_file(tmp_path: Path) -> None:
    file = tmp_path / "daemon.log"
    logs.configure(file=file)
    logs.get_logger("ultracontext.capture.tail").warning("source-set-aside", code="unreadable")
    (line,) = lines(file)
    assert (line["event"], line["level"], line["code"]) == (
        "source-set-aside", "warning", "unreadable",
    )  # fmt: skip
    assert line["logger"] == "capture.tail"
    assert str(line["timestamp"]).endswith("Z")
    assert file.stat().st_mode & 0o777 == 0o600


def test_modules_that_use_structlog_directly_are_taken_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure(file=tmp_path / "daemon.log")
    logs.adopt()
    structlog.get_logger("x").info("event")
    assert len(lines(tmp_path / "daemon.log")) == 1
    assert capsys.readouterr() == ("", "")


def test_nothing_is_printed_before_it_is_configured(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure()
    logs.adopt()
    logs.get_logger("x").error("event")
    structlog.get_logger().error("event")
    assert capsys.readouterr() == ("", "")


def test_level_holds(tmp_path: Path) -> None:
    logs.configure(level="warning", file=tmp_path / "a.log")
    logs.get_logger("x").info("left-out")
    logs.get_logger("x").error("kept")
    assert [line["event"] for line in lines(tmp_path / "a.log")] == ["kept"]


def test_human_line_on_a_terminal_is_printable() -> None:
    stream = io.StringIO()
    logs.configure(terminal=stream)
    logs.get_logger("x").warning("source-set-aside", path="/a\x1b[31m\nb")
    text = stream.getvalue()
    assert "warning: source set aside" in text
    assert "\x1b" not in text
    assert text.count("\n") == 1


def test_long_values_and_exceptions_do_not_carry_payload(tmp_path: Path) -> None:
    logs.configure(file=tmp_path / "a.log")
    secret = "password=hunter2"
    error = ValueError(secret)
    logs.get_logger("x").error("failed", error=error, exc_info=error, text="y" * 1000)
    text = (tmp_path / "a.log").read_text()
    assert secret not in text
    assert len(text) < 600


def test_where_names_places_and_not_the_text(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="hunter2") as caught:
        int_of("password=hunter2")
    found = logs.where(caught.value)
    assert found["error"] == "ValueError"
    assert "test_logs.py" in found["at"][-1]
    assert "hunter2" not in json.dumps(found)


def test_repeats_are_limited_and_counted() -> None:
    clock = [0.0]
    limit = RepeatLimit(lambda: clock[0])

    def passed(code: str = "a") -> dict[str, object] | None:
        try:
            return dict(limit(None, "info", {"event": "e", "level": "info", "code": code}))
        except structlog.DropEvent:
            return None

    written = [passed() for _ in range(100)]
    assert sum(event is not None for event in written) == logs.REPEATS
    assert passed("b") is not None
    clock[0] = logs.REPEAT_SECONDS
    later = passed()
    assert later is not None
    assert later["repeated"] == 95
    assert "repeated" not in (passed() or {})


def test_file_rotates_and_keeps_a_bounded_number(tmp_path: Path) -> None:
    sink = RotatingFile(tmp_path / "a.log", limit=200, kept=2)
    for number in range(50):
        sink({"event": "e", "number": number})
    sink.close()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.log", "a.log.1", "a.log.2"]
    assert all(p.stat().st_mode & 0o777 == 0o600 for p in tmp_path.iterdir())
    assert lines(tmp_path / "a.log")[-1]["number"] == 49


def test_a_file_that_is_taken_away_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "daemon.log"
    write = RotatingFile(path)
    write({"n": 1})
    path.rename(tmp_path / "moved.log")
    write({"n": 2})
    path.unlink()
    write({"n": 3})
    assert json.loads(path.read_bytes()) == {"n": 3}
    assert json.loads((tmp_path / "moved.log").read_bytes()) == {"n": 1}
    write.close()


def test_unwritable_file_does_not_end_the_program(tmp_path: Path) -> None:
    sink = RotatingFile(tmp_path / "missing" / "a.log")
    sink({"event": "e"})
    sink.close()


def test_import_is_cheap() -> None:
    code = "import sys, ultracontext.logs; print('structlog' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
