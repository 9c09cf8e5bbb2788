"""Masking ahead: the same events in the same order, whatever happens on the way."""

from __future__ import annotations

from typing import Any

import pytest
from capture_lab import Lab, lines, record

from ultracontext.capture import pipeline
from ultracontext.errors import StoreError
from ultracontext.redaction.ahead import Ahead

COUNT = 9000
KEY = "ghp_" + "N0tReAl3ahovCJQX4bipwDKRY5cjqxELSZ6d"


@pytest.fixture
def big(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr(pipeline, "WARM_UP_BYTES", 1)
    monkeypatch.setattr(pipeline, "_cores", lambda: {0, 1})
    for name in ("a", "b"):
        lab.write(
            lines(record(n, session=name, pad="x" * 200) for n in range(COUNT)), f"{name}.log"
        )
    return lab


def texts() -> list[str]:
    return [f"text {n}" for n in range(COUNT)]


@pytest.mark.timeout(60)
def test_order_and_number_are_kept_and_no_process_is_left(big: Lab) -> None:
    engine = big.engine()
    assert engine.run_once().events == 2 * COUNT
    assert big.texts("a") == texts()
    assert big.texts("b") == texts()
    assert engine._pipeline._ahead is None
    assert big.run().events == 0


@pytest.mark.timeout(60)
def test_secret_is_masked_by_the_second_process_as_by_this_one(big: Lab) -> None:
    big.append(lines([record("secret", session="a", text=f"key {KEY}")]), "a.log")
    big.run()
    last = big.texts("a")[-1]
    assert KEY not in last
    assert last == big.redactor.text(f"key {KEY}")


@pytest.mark.timeout(60)
def test_process_that_dies_costs_nothing(big: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    submit = Ahead.submit
    calls = 0

    def dying(self: Ahead, raws: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3 and self._child is not None:
            self._child.kill()
        return submit(self, raws)

    monkeypatch.setattr(Ahead, "submit", dying)
    assert big.run().events == 2 * COUNT
    assert big.texts("a") == texts()


@pytest.mark.timeout(60)
def test_store_that_fails_in_between_repeats_nothing(big: Lab) -> None:
    space: Any = big.space
    append = space.append
    calls = 0

    def failing(batch: Any, **more: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise StoreError("busy", code="store-busy")
        append(batch, **more)

    space.append = failing
    try:
        assert big.run().events == 2 * COUNT
    finally:
        del space.append
    assert big.texts("a") == texts()
    assert big.texts("b") == texts()


@pytest.mark.timeout(60)
def test_file_rewritten_while_its_slices_are_under_way(big: Lab) -> None:
    engine = big.engine()
    engine.sweep()
    for _ in range(2):
        engine._work()
    big.write(lines(record(n, session="a", text=f"new {n}") for n in range(50)), "a.log")
    engine.run_once()
    engine.run_once()
    assert big.texts("a")[:50] == [f"new {n}" for n in range(50)]
    assert big.texts("b") == texts()
