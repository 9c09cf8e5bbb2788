from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ultracontext.errors import FatalError, WriteRefusedError
from ultracontext.runtime.lock import DaemonLock, Holder, holding, read_holder, running
from ultracontext.runtime.process import is_alive, started_at

HOLD = """
import sys, pathlib
from ultracontext.runtime.lock import DaemonLock
lock = DaemonLock(pathlib.Path(sys.argv[1]))
lock.take(version="9", socket="/s", once=len(sys.argv) > 2)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "daemon.lock"


@pytest.fixture
def other(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_first_takes_and_is_named(path: Path) -> None:
    lock = DaemonLock(path)
    assert lock.take(version="1", socket="/s", once=False) is None
    holder = running(path)
    assert holder is not None
    assert (holder.pid, holder.version, holder.socket) == (os.getpid(), "1", "/s")
    assert path.stat().st_mode & 0o777 == 0o600
    lock.release()
    assert running(path) is None


def test_second_is_refused_and_names_the_first(path: Path, other: subprocess.Popen[str]) -> None:
    with pytest.raises(WriteRefusedError, match=f"pid {other.pid}") as caught:
        DaemonLock(path).take(version="1", socket="", once=False)
    assert caught.value.exit_code == 3
    assert caught.value.code == "locked"


def test_killed_holder_is_taken_over_and_told(path: Path, other: subprocess.Popen[str]) -> None:
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert running(path) is None
    with holding(DaemonLock(path), version="1", socket="", once=False) as earlier:
        assert earlier is not None
        assert earlier.pid == other.pid


@pytest.mark.parametrize("text", ["", "{", '{"pid": "x"}', "\0" * 100, '{"pid": 99999999}', "[]"])
def test_rubbish_of_an_earlier_life_is_written_over(text: str, path: Path) -> None:
    path.write_text(text)
    assert running(path) is None
    lock = DaemonLock(path)
    lock.take(version="1", socket="", once=False)
    found = read_holder(path)
    assert found is not None
    assert found.pid == os.getpid()
    lock.release()


def test_reused_pid_is_not_taken_for_the_holder(path: Path) -> None:
    """The file names a living process, but one that started at another time."""
    start = started_at(os.getpid())
    text = msgspec.json.encode(Holder(pid=os.getpid(), start=(start or 0) + 1))
    path.write_bytes(text)
    assert running(path) is None


def test_living_pid_without_the_lock_is_not_running(path: Path) -> None:
    path.write_bytes(msgspec.json.encode(Holder(pid=os.getpid(), start=started_at(os.getpid()))))
    assert running(path) is None


def test_removed_file_is_noticed(path: Path) -> None:
    lock = DaemonLock(path)
    lock.take(version="1", socket="", once=False)
    assert lock.is_ours()
    path.unlink()
    assert not lock.is_ours()
    path.write_text("")
    assert not lock.is_ours()
    lock.release()
    assert not lock.is_ours()


def test_lock_is_not_inherited_by_a_child(path: Path) -> None:
    lock = DaemonLock(path)
    lock.take(version="1", socket="", once=False)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    lock.release()
    DaemonLock(path).take(version="1", socket="", once=False)
    child.communicate(b"\n")


def test_link_in_the_place_of_the_file_is_refused(path: Path, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FatalError, match="cannot take the lock"):
        DaemonLock(path).take(version="1", socket="", once=False)
    assert not (tmp_path / "elsewhere").exists()


def test_asking_does_not_disturb_a_start(path: Path) -> None:
    for _ in range(200):
        lock = DaemonLock(path)
        lock.take(version="1", socket="", once=False)
        assert running(path) is not None
        lock.release()


def test_is_alive() -> None:
    own = os.getpid()
    assert is_alive(own, started_at(own))
    assert is_alive(own, None)
    assert not is_alive(own, (started_at(own) or 0) + 1)
    assert not is_alive(0, None)
