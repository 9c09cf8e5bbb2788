"""Every door of this machine masks: what goes in by hand, what comes from a file, what goes out.

Each secret stands where a person or a program puts one: text, a field, a key, a list of blocks,
metadata. All files of the home are searched, the store's blocks unpacked.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import string
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from program import Person, Result

pytestmark = pytest.mark.timeout(180)

OLDER = """
import sys
import ultracontext.redaction.loading as loading
from ultracontext.redaction.rules import load_rules
rules = tuple(rule for rule in load_rules() if rule.name not in ("gitlab-token", "github-token"))
loading.load_rules = lambda *_: rules
import ultracontext.redaction.opening as opening
opening._remember = lambda *_: None
from ultracontext.cli.main import run
sys.exit(run(sys.argv[1:]))
"""


def some(count: int) -> str:
    letters = string.ascii_letters + string.digits
    return "".join(secrets.choice(letters) for _ in range(count - 3)) + "aB7"


@pytest.fixture
def planted() -> Mapping[str, str]:
    """The values that must not be met, and the texts that hold them."""
    return {"github": "ghp_" + some(36), "gitlab": "glpat-" + some(20), "word": "Zr9!" + some(12)}


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    made = Person(path=tmp_path / "one")
    made.path.mkdir()
    yield made
    made.end()


def fine(result: Result) -> Result:
    assert result.code == 0, result.err
    return result


def message(planted: Mapping[str, str]) -> str:
    text = f"use {planted['github']} at postgres://app:{planted['word']}@db:5432/x"
    content = [
        {"type": "text", "text": text},
        {"type": "tool_use", "input": {"password": planted["word"], planted["gitlab"]: 1}},
    ]
    return json.dumps({"role": "user", "content": content})


def kept(person: Person) -> bytes:
    """Every byte below the home, and what the store's blocks unpack to."""
    from ultracontext.store.sqlite.bodies import Bodies

    data = b"".join(path.read_bytes() for path in person.home.rglob("*") if path.is_file())
    bodies = Bodies("local")
    with sqlite3.connect(person.home / "store.db") as connection:
        for codec, packed in connection.execute("SELECT codec, data FROM blocks"):
            data += bodies.unpack(codec, packed, connection)
    return data


def absent(planted: Mapping[str, str], data: bytes) -> None:
    for name, value in planted.items():
        assert value.encode() not in data, name


def by_hand(person: Person, planted: Mapping[str, str], *more: str) -> str:
    """A context with each secret in it, by the commands that write."""
    meta = json.dumps({"note": planted["github"], planted["gitlab"]: {"pwd": planted["word"]}})
    made = fine(person.run("context", "create", "--metadata", meta, "--json", *more))
    name: str = made.data["id"]
    fine(person.run("context", "append", name, "--message", message(planted), *more))
    fine(person.run("context", "append", name, f"token {planted['gitlab']}", *more))
    change = json.dumps({"extra": {"secret": planted["word"]}, "content": planted["github"]})
    fine(person.run("context", "update", name, "1", "--set", change, *more))
    fine(person.run("context", "update", name, "--set", meta, *more))
    return name


def test_append_and_update_mask_unless_raw(person: Person, planted: Mapping[str, str]) -> None:
    by_hand(person, planted)
    absent(planted, kept(person))
    by_hand(person, planted, "--raw")
    held = kept(person)
    assert all(value.encode() in held for value in planted.values())


def test_an_export_masks_what_is_stored_raw(person: Person, planted: Mapping[str, str]) -> None:
    name = by_hand(person, planted, "--raw")
    fine(person.run("export", name, "-o", str(person.path / "out.jsonl")))
    absent(planted, (person.path / "out.jsonl").read_bytes())
    absent(planted, fine(person.run("export", name)).out.encode())


def test_an_import_masks_again(person: Person, planted: Mapping[str, str]) -> None:
    name = by_hand(person, planted, "--raw")
    file = person.path / "raw.jsonl"
    fine(person.run("export", name, "--raw", "-o", str(file)))
    assert planted["github"].encode() in file.read_bytes()
    other = Person(path=person.path.parent / "two")
    other.path.mkdir()
    fine(other.run("import", str(file)))
    absent(planted, kept(other))
    assert b"[redacted:github-token:" in kept(other)


def test_a_handoff_masks_what_older_rules_let_through(
    person: Person, planted: Mapping[str, str]
) -> None:
    """The document and all that is said of it; the rows were stored by an older program."""
    session = "11111111-2222-4333-8444-555555555555"
    lines, parent = [], None
    said = [f"Use {planted['github']}.", "Done.", f"And {planted['gitlab']}?", "Yes."]
    for number, text in enumerate(said):
        own = f"aaaaaaaa-0000-4000-8000-00000000000{number}"
        role = "assistant" if number % 2 else "user"
        content: object = [{"type": "text", "text": text}] if number % 2 else text
        lines.append(
            json.dumps(
                {
                    "type": role,
                    "uuid": own,
                    "parentUuid": parent,
                    "sessionId": session,
                    "cwd": str(person.path),
                    "version": "2.1.0",
                    "isSidechain": False,
                    "timestamp": f"2026-11-30T10:00:0{number}.000Z",
                    "message": {"role": role, "content": content},
                }
            )
        )
        parent = own
    file = person.path / f".claude/projects/-w-app/{session}.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", OLDER, "daemon", "run", "--once"], env=person.env, cwd=person.path,
        stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert planted["github"].encode() in kept(person), "the older program masks it: no test"
    told = fine(person.run("switch", "codex", "--session", session, "--handoff", "--json"))
    absent(planted, (told.out + told.err).encode())
    documents = list(person.home.rglob("handoff-*.md"))
    assert len(documents) == 1
    absent(planted, documents[0].read_bytes())
    assert b"[redacted:github-token:" in documents[0].read_bytes()
