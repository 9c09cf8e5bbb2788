"""Capture against a model: files that are appended to, cut, moved, copied, edited, deleted, while
the program is restarted, its store fails and its clock jumps. What was complete at a run is stored
once."""

from __future__ import annotations

import json
import shutil
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from capture_lab import TOY, Lab
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from ultracontext.agents import known
from ultracontext.capture import CaptureEngine
from ultracontext.errors import StoreError
from ultracontext.store.base import CaptureBatch

picks = st.integers(0, 7)
some_file = precondition(lambda self: bool(self.alive))


class ModelFile:
    def __init__(self, name: str, session: str) -> None:
        self.name = name
        self.session = session
        self.records: list[tuple[str, bytes]] = []
        self.partial: tuple[str, bytes, int] | None = None


class CaptureMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="uc-model-"))
        self.lab = Lab(self.folder)
        known()[TOY.slug] = TOY
        self.engine: CaptureEngine = self.lab.engine()
        self.count = 0
        self.alive: dict[str, ModelFile] = {}
        self.captured: dict[str, set[str]] = {}
        self.texts: dict[str, str] = {}
        self.seen: dict[str, str] = {}
        """Text of each record at the last run that could see it."""
        self.shared: set[str] = set()
        self.edited: set[str] = set()
        """Sessions edited since the last run: a copy made now has two readings."""
        self.settled = True

    def _name(self) -> str:
        self.count += 1
        return f"n{self.count}"

    def _record(self, session: str) -> tuple[str, bytes]:
        name = self._name()
        self.texts[name] = f"text of {name}"
        record = {"session": session, "id": name, "text": self.texts[name]}
        return name, json.dumps(record).encode()

    def _path(self, file: ModelFile) -> Path:
        return self.lab.logs / file.name

    def _file(self, pick: int) -> ModelFile:
        return list(self.alive.values())[pick % len(self.alive)]

    @initialize(count=st.integers(1, 8))
    def begin(self, count: int) -> None:
        self.create(count)

    @rule(count=st.integers(0, 8))
    def create(self, count: int) -> None:
        file = ModelFile(self._name() + ".log", f"s{self.count}")
        self.alive[file.name] = file
        self.lab.write(b"", file.name)
        if count:
            self._append(file, count)

    @some_file
    @rule(pick=picks, count=st.integers(1, 6))
    def append(self, pick: int, count: int) -> None:
        self._append(self._file(pick), count)

    def _append(self, file: ModelFile, count: int) -> None:
        data = b""
        if file.partial is not None:
            name, line, written = file.partial
            data += line[written:] + b"\n"
            file.records.append((name, line))
            file.partial = None
        for _ in range(count):
            name, line = self._record(file.session)
            file.records.append((name, line))
            data += line + b"\n"
        self.lab.append(data, file.name)
        self.settled = False

    @some_file
    @rule(pick=picks, share=st.floats(0.05, 0.95))
    def append_a_part(self, pick: int, share: float) -> None:
        file = self._file(pick)
        if file.partial is not None:
            return
        name, line = self._record(file.session)
        written = max(1, int(len(line) * share))
        file.partial = (name, line, written)
        self.lab.append(line[:written], file.name)

    @some_file
    @rule(pick=picks)
    def rename(self, pick: int) -> None:
        file = self._file(pick)
        del self.alive[file.name]
        path = self._path(file)
        file.name = self._name() + ".log"
        path.rename(self._path(file))
        self.alive[file.name] = file

    @some_file
    @rule(pick=picks)
    def copy(self, pick: int) -> None:
        file = self._file(pick)
        if file.session in self.edited:
            return
        twin = ModelFile(self._name() + ".log", file.session)
        twin.records = list(file.records)
        shutil.copy(self._path(file), self._path(twin))
        if file.partial is not None:
            # the copy never gets its end: close the line as damage would
            with self._path(twin).open("r+b") as out:
                out.truncate(sum(len(line) + 1 for _, line in file.records))
        self.alive[twin.name] = twin
        self.shared.add(file.session)

    @some_file
    @rule(pick=picks, keep=st.integers(0, 10))
    def truncate(self, pick: int, keep: int) -> None:
        file = self._file(pick)
        file.records = file.records[:keep]
        file.partial = None
        with self._path(file).open("r+b") as out:
            out.truncate(sum(len(line) + 1 for _, line in file.records))

    @some_file
    @rule(pick=picks, at=st.integers(0, 30))
    def edit_in_place(self, pick: int, at: int) -> None:
        file = self._file(pick)
        if file.session in self.shared or not file.records:
            return
        at %= len(file.records)
        name, _ = file.records[at]
        self.count += 1
        self.edited.add(file.session)
        self.texts[name] = f"edited {self.count} {name}"
        fresh = json.dumps({"session": file.session, "id": name, "text": self.texts[name]}).encode()
        file.records[at] = (name, fresh)
        data = b"".join(one + b"\n" for _, one in file.records)
        if file.partial is not None:
            data += file.partial[1][: file.partial[2]]
        with self._path(file).open("r+b") as out:
            out.write(data)
            out.truncate()
        self.settled = False

    @some_file
    @rule(pick=picks)
    def delete(self, pick: int) -> None:
        file = self._file(pick)
        del self.alive[file.name]
        self._path(file).unlink()

    @rule()
    def restart(self) -> None:
        self.lab.reopen()
        self.engine = self.lab.engine()

    @rule(days=st.sampled_from([-40, -1, 1, 3650]))
    def clock_jumps(self, days: int) -> None:
        self.lab.now += timedelta(days=days)
        if not 1990 < self.lab.now.year < 2100:
            self.lab.now = self.lab.now.replace(year=2026)

    @rule()
    def run(self) -> None:
        self.engine.run_once()
        for file in self.alive.values():
            names = self.captured.setdefault(file.session, set())
            names.update(name for name, _ in file.records)
            self.seen.update((name, self.texts[name]) for name, _ in file.records)
        self.edited.clear()
        self.settled = True

    @rule()
    def run_again(self) -> None:
        self.run()

    @precondition(lambda self: not self.settled)
    @rule()
    def run_with_a_store_that_is_full(self) -> None:
        space: Any = self.lab.space
        engine = self.lab.engine()

        def full(_batch: CaptureBatch, **_more: object) -> None:
            raise StoreError("the disk is full", code="store-full")

        space.append = full
        try:
            engine.run_once()
        except StoreError:
            pass
        finally:
            del space.append
        self.engine = self.lab.engine()

    @invariant()
    def stored_once_in_order_as_last_seen(self) -> None:
        if not self.settled:
            return
        for session, names in self.captured.items():
            row = self.lab.space.by_session("toy", session)
            stored = []
            if row is not None:
                for node in self.lab.space.nodes(row.context_id):
                    native = json.loads(node.body)
                    stored.append(native["id"])
                    assert native["text"] == self.seen[native["id"]]
            assert len(stored) == len(set(stored))
            assert set(stored) == names
            place = {name: at for at, name in enumerate(stored)}
            for file in self.alive.values():
                if file.session == session and session not in self.shared:
                    seen = [place[n] for n, _ in file.records if n in place]
                    assert seen == sorted(seen)

    def teardown(self) -> None:
        known().pop(TOY.slug, None)
        self.lab.store.close()
        shutil.rmtree(self.folder)


CaptureMachine.TestCase.settings = settings(
    max_examples=40,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestCapture = CaptureMachine.TestCase
