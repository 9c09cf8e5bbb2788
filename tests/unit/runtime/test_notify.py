"""sd_notify: what a service manager hears."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path

import pytest

from ultracontext.runtime.notify import Notifier


def test_words_arrive() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "n")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(path)
            manager.settimeout(5)
            notifier = Notifier({"NOTIFY_SOCKET": path})
            for send, word in (
                (notifier.ready, b"READY=1"),
                (notifier.alive, b"WATCHDOG=1"),
                (notifier.reloading, b"RELOADING=1\nMONOTONIC_USEC="),
                (notifier.stopping, b"STOPPING=1"),
            ):
                send()
                assert manager.recv(1000).startswith(word)


def test_nobody_listens() -> None:
    Notifier({}).ready()
    Notifier({"NOTIFY_SOCKET": "/nowhere/n"}).ready()
    Notifier({"NOTIFY_SOCKET": "@nobody-listens-here"}).ready()


@pytest.mark.parametrize(
    ("env", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "120000000"}, 60.0),
        ({"WATCHDOG_USEC": "120000000", "WATCHDOG_PID": "7"}, 60.0),
        ({"WATCHDOG_USEC": "120000000", "WATCHDOG_PID": "8"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_how_often(env: dict[str, str], seconds: float | None) -> None:
    assert Notifier(env, pid=7).watchdog_seconds == seconds
