"""Copies that go on by themselves, and edits in place."""

from __future__ import annotations

import shutil

from capture_lab import Lab, lines, record

from ultracontext.store.session import read_session

COMMON = [b'{"session":"s1","text":"c%d"}' % n for n in range(3)]


def said(text: str) -> bytes:
    return b'{"session":"s1","text":"%s"}' % text.encode()


def conversation(lab: Lab, session: str) -> list[str]:
    row = lab.space.by_session("toy", session)
    assert row is not None
    session_read = read_session(lab.space, row, lab.redactor)
    return [m.text for m in session_read.messages]


def fork_of(lab: Lab) -> str:
    return next(s for s in lab.sessions() if s.startswith("s1~"))


def test_original_captured_first_keeps_its_name(lab: Lab) -> None:
    path = lab.write(lines(COMMON))
    lab.run()
    shutil.copy(path, lab.logs / "b.log")
    lab.append(lines([said("here")]))
    lab.run()
    lab.append(lines([said("there"), said("more")]), "b.log")
    lab.run()
    assert lab.texts() == ["c0", "c1", "c2", "here"]
    assert lab.texts(fork_of(lab)) == ["there", "more"]
    assert conversation(lab, fork_of(lab)) == ["c0", "c1", "c2", "there", "more"]
    row = lab.space.by_session("toy", fork_of(lab))
    assert row is not None
    assert (row.facts.relation, row.facts.parent_session) == ("fork", "s1")
    assert row.facts.messages == 5


def test_both_found_at_once_and_growing_further(lab: Lab) -> None:
    lab.write(lines([*COMMON, said("here")]))
    lab.write(lines([*COMMON, said("there")]), "b.log")
    lab.run()
    assert len(lab.sessions()) == 2
    fork = fork_of(lab)
    assert {*lab.texts(), *lab.texts(fork)} == {"c0", "c1", "c2", "here", "there"}
    assert conversation(lab, fork)[:3] == ["c0", "c1", "c2"]
    lab.append(lines([said("x")]))
    lab.append(lines([said("y")]), "b.log")
    assert lab.run().events == 2
    assert len(conversation(lab, fork)) == 5


def test_fork_has_the_same_name_when_all_is_read_again(lab: Lab) -> None:
    lab.write(lines([*COMMON, said("here")]))
    lab.run()
    lab.write(lines([*COMMON, said("there")]), "b.log")
    lab.run()
    sessions = lab.sessions()
    shutil.copytree(lab.root, lab.folder / "other")
    lab.roots = [lab.folder / "other"]
    assert lab.run().events == 0
    assert lab.sessions() == sessions


def test_copy_of_an_edited_file_is_no_fork(lab: Lab) -> None:
    path = lab.write(lines([record(n) for n in range(10)]))
    lab.run()
    data = path.read_bytes().replace(b"text 4", b"TEXT 4")
    with path.open("r+b") as out:
        out.write(data)
    assert lab.run().events == 1
    shutil.copy(path, lab.logs / "copy.log")
    assert lab.run().events == 0
    lab.append(lines([record(10)]))
    shutil.copy(path, lab.logs / "third.log")
    assert lab.run().events == 1
    assert lab.sessions() == ["s1"]


def test_edit_of_the_only_copy_is_a_revision(lab: Lab) -> None:
    lab.write(lines([*COMMON, said("here")]))
    lab.run()
    fresh = lab.write(lines([*COMMON, said("edited")]), "tmp")
    fresh.rename(lab.logs / "a.log")
    lab.run()
    assert lab.texts() == ["c0", "c1", "c2", "edited"]
    assert lab.sessions() == ["s1"]
