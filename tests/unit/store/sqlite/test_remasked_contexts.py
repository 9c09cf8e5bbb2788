"""Contexts with history whose captured rows newer rules mask again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from context_writer import Writer, message
from older_rules import older_redactor

from ultracontext.model import captured_context_id
from ultracontext.redaction import Redactor, load_redactor
from ultracontext.store.sqlite import SqliteStore

KEY = b"a secret of the tests"
NAME = captured_context_id("claude", "s1")
SECRET = "glpat-" + "N0tReAl3ahovCJQX4bip"


@pytest.fixture(scope="module")
def new() -> Redactor:
    return load_redactor(KEY, engine="aho")


def test_chains_are_borne_out_in_forks_too(store: SqliteStore, make: Any, new: Redactor) -> None:
    make.redactor = older_redactor(KEY)
    space = store.within("local")
    bodies = [json.dumps({"type": "user", "n": n, "t": f"{SECRET} {n}"}) for n in range(300)]
    make.append(space, *[make.event(n, data=body.encode()) for n, body in enumerate(bodies)])
    writer = Writer(space)
    part = writer.fork(NAME, at=99)
    writer.append(part, message({"content": f"given {SECRET}"}))
    writer.append(NAME, message({"content": "masked when it came"}, rule_set=1))
    writer.say(NAME, 5, "edited")
    writer.remove(NAME, 7)
    for _ in space.remask(new):
        pass
    whole = writer.fork(NAME)
    for name, count in ((NAME, 300), (part, 101), (whole, 300)):
        found = writer.messages(name)
        assert len(found) == count
        assert not any(SECRET.encode() in m.content for m in found[:100])
        verified = space.verify(name)
        assert verified.sound, verified
    assert writer.messages(NAME)[-1].content == b'{"content": "masked when it came"}'
    assert SECRET.encode() in writer.messages(part)[-1].content
    writer.wipe(NAME)
    assert len(writer.messages(part)) == 101
    assert space.verify(whole).sound
