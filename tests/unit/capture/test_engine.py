"""Capture as a whole on a toy agent: exactly once, whatever happens to the files."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
import zstandard
from capture_lab import Lab, lines, record

from ultracontext.capture import Committed
from ultracontext.errors import StoreError

TEN = [record(n) for n in range(10)]
TEXTS = [f"text {n}" for n in range(10)]


def test_all_records_once_and_in_order(lab: Lab) -> None:
    lab.write(lines(TEN))
    done = lab.run()
    assert (done.events, done.sessions, done.files, done.duplicates) == (10, 1, 1, 0)
    assert lab.texts() == TEXTS


def test_second_run_adds_nothing_and_opens_nothing(lab: Lab) -> None:
    lab.write(lines(TEN))
    lab.run()
    again = lab.run()
    assert (again.events, again.duplicates, again.files) == (0, 0, 0)


def test_growth_between_runs_is_read_from_where_it_ended_p11(lab: Lab) -> None:
    lab.write(lines(TEN[:4]))
    lab.run()
    lab.append(lines(TEN[4:5]))
    done = lab.run()
    assert (done.events, done.duplicates) == (1, 0)
    assert done.bytes == len(TEN[4]) + 1


def test_torn_tail_waits_for_its_line_end(lab: Lab) -> None:
    lab.write(lines(TEN[:2]) + TEN[2][:20])
    engine = lab.engine()
    engine.run_once()
    assert lab.texts() == TEXTS[:2]
    lab.append(TEN[2][20:])
    assert engine.run_once().events == 2
    lab.append(b"\n")
    engine.run_once()
    assert lab.texts() == TEXTS[:3]


def test_half_a_character_at_the_end_waits(lab: Lab) -> None:
    whole = '{"session":"s1","id":"e","text":"é"}'.encode()
    lab.write(whole[:-3])
    lab.run()
    assert lab.texts() == []
    lab.append(whole[-3:] + b"\n")
    lab.run()
    assert lab.texts() == ["é"]


def test_rename_is_followed_without_reading_again(lab: Lab) -> None:
    path = lab.write(lines(TEN[:5]))
    lab.run()
    path.rename(lab.logs / "b.log")
    lab.append(lines(TEN[5:]), "b.log")
    done = lab.run()
    assert (done.events, done.duplicates) == (5, 0)
    assert lab.texts() == TEXTS


def test_copy_to_another_path_adds_nothing(lab: Lab) -> None:
    path = lab.write(lines(TEN))
    lab.run()
    shutil.copy(path, lab.logs / "copy.log")
    done = lab.run()
    assert (done.events, done.duplicates) == (0, 10)
    assert lab.sessions() == ["s1"]


def test_copy_of_the_root_adds_nothing(lab: Lab) -> None:
    lab.write(lines(TEN))
    lab.run()
    shutil.copytree(lab.root, lab.folder / "other")
    lab.roots = [lab.folder / "other"]
    assert lab.run().events == 0


def test_truncated_file_restarts_at_zero(lab: Lab) -> None:
    path = lab.write(lines(TEN))
    lab.run()
    os.truncate(path, len(lines(TEN[:3])))
    done = lab.run()
    assert done.events == 0
    lab.append(lines([record("new")]))
    lab.run()
    assert lab.texts() == [*TEXTS, "text new"]


def test_truncated_and_grown_past_the_old_end(lab: Lab) -> None:
    lab.write(lines(TEN[:3]))
    lab.run()
    lab.write(lines([record(f"x{n}") for n in range(20)]))
    assert lab.run().events == 20


def test_edit_in_place_with_same_size_and_times_p12(
    lab: Lab, same_times: Callable[[Path, os.stat_result], None]
) -> None:
    path = lab.write(lines(TEN))
    lab.run()
    before = path.stat()
    data = path.read_bytes().replace(b"text 3", b"TEXT 3")
    with path.open("r+b") as out:
        out.write(data)
    same_times(path, before)
    assert lab.run().events == 1
    assert lab.texts()[3] == "TEXT 3"
    assert "text 3" in lab.texts(every=True)
    assert lab.run().events == 0


def test_replaced_by_another_file_of_the_same_name(lab: Lab) -> None:
    path = lab.write(lines(TEN[:3]))
    lab.run()
    path.unlink()
    lab.write(lines([record(n, session="s2") for n in range(2)]))
    lab.run()
    assert lab.texts("s2") == TEXTS[:2]
    assert lab.texts() == TEXTS[:3]


def test_atomically_replaced_by_a_longer_version_of_itself(lab: Lab) -> None:
    lab.write(lines(TEN[:3]))
    lab.run()
    fresh = lab.write(lines(TEN[:6]), "tmp")
    fresh.rename(lab.logs / "a.log")
    done = lab.run()
    assert (done.events, done.duplicates) == (3, 3)
    assert lab.texts() == TEXTS[:6]


def test_deleted_file_keeps_what_was_captured(lab: Lab) -> None:
    lab.write(lines(TEN))
    engine = lab.engine()
    engine.run_once()
    (lab.logs / "a.log").unlink()
    engine.run_once()
    assert lab.texts() == TEXTS


def test_copy_that_goes_on_by_itself_becomes_a_fork(lab: Lab) -> None:
    base = [b'{"session":"s1","text":"c%d"}' % n for n in range(3)]
    path = lab.write(lines(base))
    lab.run()
    shutil.copy(path, lab.logs / "b.log")
    lab.append(lines([b'{"session":"s1","text":"here"}']))
    lab.append(
        lines([b'{"session":"s1","text":"there"}', b'{"session":"s1","text":"more"}']), "b.log"
    )
    lab.run()
    sessions = lab.sessions()
    assert len(sessions) == 2
    fork = next(s for s in sessions if s.startswith("s1~"))
    own = {lab.texts("s1")[-1], *lab.texts(fork)}
    assert own in ({"here", "there", "more"}, {"more", "there", "here"}) or own >= {"here"}
    assert lab.run().events == 0
    lab.append(lines([b'{"session":"s1","text":"later"}']), "b.log")
    assert lab.run().events == 1


def test_damaged_line_is_kept_and_counted_p03_p04(lab: Lab) -> None:
    fused = b'{"session":"s1","text":"cu' + record(5)
    lab.write(lines([*TEN[:3], b"\0" * 512, fused, *TEN[6:]]))
    done = lab.run()
    assert lab.texts() == [*TEXTS[:3], "<nul>", "<fused>", "text 5", *TEXTS[6:]]
    assert [e.code for e in done.errors] == ["damaged", "damaged"]
    assert done.errors[0].position == len(lines(TEN[:3]))


def test_long_line_does_not_stall_those_after_it_p08(lab: Lab) -> None:
    long = record("long", text="x" * (5 << 20))
    lab.write(lines([TEN[0], long, TEN[1]]))
    lab.run()
    assert [t[:10] for t in lab.texts()] == ["text 0", "x" * 10, "text 1"]


def test_line_above_the_limit_leaves_a_stub(lab: Lab) -> None:
    with (lab.logs / "a.log").open("wb") as out:
        out.write(TEN[0] + b"\n")
        for _ in range(70):
            out.write(b"y" * (1 << 20))
        out.write(b"\n" + TEN[1] + b"\n")
    done = lab.run()
    assert lab.texts() == ["text 0", "<opaque>", "text 1"]
    assert [e.code for e in done.errors] == ["too-large"]
    row = lab.space.by_session("toy", "s1")
    assert row is not None
    stub = list(lab.space.nodes(row.context_id))[1]
    assert stub.too_large is not None
    assert stub.too_large[0] == 70 << 20


def test_compressed_session_is_the_same_session(lab: Lab) -> None:
    data = lines(TEN)
    lab.write(zstandard.ZstdCompressor().compress(data), "a.log.zst")
    lab.run()
    assert lab.texts() == TEXTS
    lab.write(data)
    done = lab.run()
    assert (done.events, done.duplicates) == (0, 10)


def test_damaged_compression_is_set_aside_and_others_go_on(lab: Lab) -> None:
    packed = zstandard.ZstdCompressor().compress(lines(TEN))
    lab.write(b"\0\0\0\0" + packed[4:], "bad.log.zst")
    lab.write(lines(TEN))
    done = lab.run()
    assert lab.texts() == TEXTS
    assert [e.code for e in done.errors] == ["damaged"]


def test_vendor_records_are_left_out_and_counted(lab: Lab) -> None:
    lab.write(lines([TEN[0], record(1, vendor=True), TEN[2]]))
    done = lab.run()
    assert done.skipped == {"vendor": 1}
    assert lab.texts() == ["text 0", "text 2"]


def test_new_mode_leaves_out_what_lay_there_and_is_remembered(lab: Lab) -> None:
    lab.write(lines(TEN[:4]))
    done = lab.run(backfill="new")
    assert (done.events, done.skipped) == (0, {"backfill": 4})
    lab.append(lines(TEN[4:6]))
    lab.write(lines([record(0, session="later")]), "b.log")
    assert lab.run(backfill="new").events == 3
    assert lab.texts() == TEXTS[4:6]
    assert lab.texts("later") == ["text 0"]


def test_agent_installed_later_is_captured_whole_in_new_mode(lab: Lab) -> None:
    shutil.rmtree(lab.root)
    lab.run(backfill="new")
    lab.write(lines(TEN))
    assert lab.run(backfill="new").events == 10


def test_emptied_dedup_table_and_a_second_reading_add_nothing(lab: Lab) -> None:
    path = lab.write(lines(TEN))
    lab.run()
    lab.now = lab.now.replace(year=2036)
    assert lab.run(dedup_ttl_seconds=1.0).events == 0
    assert lab.space.dedup_status().rows == 0
    shutil.copy(path, lab.logs / "copy.log")
    done = lab.run(dedup_ttl_seconds=1.0)
    assert (done.events, done.duplicates) == (0, 10)


def test_facts_come_with_the_commit_and_after_a_restart(lab: Lab) -> None:
    lab.write(lines(TEN[:4]))
    lab.run()
    row = lab.space.by_session("toy", "s1")
    assert row is not None
    assert (row.facts.messages, row.facts.title, row.stale) == (4, "text 0", False)
    lab.reopen()
    lab.append(lines(TEN[4:]))
    lab.run()
    row = lab.space.by_session("toy", "s1")
    assert row is not None
    assert (row.facts.messages, row.stale) == (10, False)


def test_agents_files_are_left_as_they_were(lab: Lab) -> None:
    path = lab.write(lines(TEN))
    os.utime(path, ns=(10**18, 10**18))
    before = path.stat()
    lab.run()
    after = path.stat()
    assert (after.st_atime_ns, after.st_mtime_ns) == (before.st_atime_ns, before.st_mtime_ns)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file_is_named_and_others_go_on(lab: Lab) -> None:
    path = lab.write(lines(TEN), "closed.log")
    path.chmod(0)
    lab.write(lines(TEN))
    done = lab.run()
    assert lab.texts() == TEXTS
    assert [e.code for e in done.errors] == ["unreadable"]


def test_folder_loop_by_links_ends(lab: Lab) -> None:
    (lab.logs / "loop").symlink_to(lab.logs)
    lab.write(lines(TEN))
    assert lab.run().events == 10


def test_file_names_with_odd_characters(lab: Lab) -> None:
    lab.write(lines(TEN), "new\nline \udcff.log" if os.name != "nt" else "x.log")
    assert lab.run().events == 10


def one_each(seen: threading.Semaphore) -> Callable[[Sequence[Committed]], None]:
    """A listener that releases once for every event."""

    def told(commits: Sequence[Committed]) -> None:
        for commit in commits:
            for _ in range(commit.events):
                seen.release()

    return told


def test_live_writes_are_followed(lab: Lab) -> None:
    engine = lab.engine()
    stop = threading.Event()
    seen = threading.Semaphore(0)
    engine.listen(one_each(seen))
    thread = threading.Thread(target=engine.run, args=(stop,))
    thread.start()
    try:
        for n in range(10):
            lab.append(lines([TEN[n]]))
            assert seen.acquire(timeout=5)
        assert lab.texts() == TEXTS
    finally:
        stop.set()
        thread.join(5)
    assert not thread.is_alive()


def test_pause_holds_and_continue_catches_up(lab: Lab) -> None:
    engine = lab.engine()
    stop = threading.Event()
    seen = threading.Semaphore(0)
    engine.listen(one_each(seen))
    thread = threading.Thread(target=engine.run, args=(stop,))
    thread.start()
    try:
        engine.pause()
        lab.write(lines(TEN[:1]))
        assert not seen.acquire(timeout=1)
        engine.resume()
        assert seen.acquire(timeout=5)
    finally:
        stop.set()
        thread.join(5)


def test_after_a_sleep_of_the_machine_all_roots_are_looked_at(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = lab.engine(watch=False, sweep_seconds=3600.0)
    stop = threading.Event()
    swept = threading.Semaphore(0)
    sweep = engine.sweep

    def counting() -> None:
        sweep()
        swept.release()

    monkeypatch.setattr(engine, "sweep", counting)
    thread = threading.Thread(target=engine.run, args=(stop,))
    thread.start()
    try:
        assert swept.acquire(timeout=5)
        lab.now += timedelta(hours=8)
        engine.hint("nothing")
        assert swept.acquire(timeout=5)
    finally:
        stop.set()
        engine.hint("nothing")
        thread.join(5)
    assert not thread.is_alive()


def test_a_single_run_on_a_full_disk_is_to_be_run_again(lab: Lab) -> None:
    lab.write(lines(record(n) for n in range(3)))
    engine, space = lab.engine(), cast("Any", lab.space)

    def full(_batch: object, **_more: object) -> None:
        raise StoreError("the disk is full", hint="capture goes on by itself", code="store-full")

    space.append = full
    with pytest.raises(StoreError) as caught:
        engine.run_once()
    assert caught.value.hint == "Free some space and run it again"
    del space.append
    assert lab.run().events == 3


def test_the_name_of_an_unreadable_place_is_valid_text(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = os.fsdecode(b"odd-\xff")
    (lab.logs / name).mkdir()
    scan = os.scandir

    def refusing(path: Any = ".") -> Any:
        if os.fspath(path).endswith(name):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    engine = lab.engine()
    (error,) = engine.run_once().errors
    assert error.path.encode("utf-8").endswith(b"odd-\\xff")
    assert [found["code"] for found in engine.status().problems] == ["unreadable"]
    monkeypatch.undo()
    engine.sweep()
    assert engine.status().problems == []


def test_links_to_session_files_and_folders_are_followed(lab: Lab, tmp_path: Path) -> None:
    elsewhere = tmp_path / "dotfiles"
    (elsewhere / "more").mkdir(parents=True)
    (elsewhere / "a.log").write_bytes(lines(TEN[:2]))
    (elsewhere / "more" / "b.log").write_bytes(lines([record("b", session="s2")]))
    (lab.logs / "a.log").symlink_to(elsewhere / "a.log")
    (lab.logs / "more").symlink_to(elsewhere / "more")
    assert lab.run().events == 3
    assert lab.texts() == TEXTS[:2]
