"""`compat`: what is read and written, and on what evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import Person

from ultracontext.agents import known

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    one = Person(path=tmp_path.resolve())
    yield one
    one.end()


def install(person: Person, package: str, version: str) -> None:
    folder = person.path / ".local/lib/node_modules" / package
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"version": version}))


def test_every_ordered_pair_is_listed_with_its_evidence(person: Person) -> None:
    found = person.run("compat", "--json").data
    slugs = list(known())
    assert [agent["agent"] for agent in found["agents"]] == slugs
    assert {(p["source"], p["target"]) for p in found["pairs"]} == {
        (a, b) for a in slugs for b in slugs
    }
    for pair in found["pairs"]:
        assert pair["verdict"] in ("tested", "untested", "refused", "handoff")
        assert (pair["verdict"] == "tested") <= bool(pair["evidence"])
        assert pair["evidence"] or pair["reason"]
        for one in pair["evidence"]:
            assert one.keys() >= {"test", "program", "version", "date"}
    assert {p["verdict"] for p in found["pairs"] if p["target"] == "cursor"} == {"handoff"}
    for agent in found["agents"]:
        assert agent["reads"]
        assert all(row.keys() >= {"format", "versions", "evidence"} for row in agent["reads"])


def test_a_newer_patch_of_a_tested_version_is_expected_until_it_writes_what_is_new(
    person: Person,
) -> None:
    install(person, "@anthropic-ai/claude-code", "2.1.333")
    agent = next(a for a in person.run("compat", "--json").data["agents"] if a["name"][:2] == "Cl")
    assert agent["installed"] == "2.1.333"
    assert agent["from"]["codex"]["verdict"] == "expected"
    record = {"type": "brand-new", "version": "2.1.333", "uuid": "u", "parentUuid": None}
    person.write(
        ".claude/projects/-w/00000000-0000-4000-8000-000000000001.jsonl", json.dumps(record) + "\n"
    )
    agent = next(a for a in person.run("compat", "--json").data["agents"] if a["name"][:2] == "Cl")
    assert agent["from"]["codex"]["verdict"] == "untested"
    assert "brand-new" in agent["from"]["codex"]["reason"]


def test_a_person_reads_the_same(person: Person) -> None:
    done = person.run("compat")
    assert done.code == 0
    assert "claude → codex: tested" in done.out
    assert "codex → cursor: handoff" in done.out


def test_prove_needs_an_installed_program_and_a_way_to_run_it(person: Person) -> None:
    nothing = person.run("compat", "prove", "codex", env={"PATH": "/nonexistent"})
    assert nothing.code == 1
    assert "no Codex is installed" in nothing.err
    assert person.run("compat", "prove", "cursor").code == 3
    assert person.run("compat", "prove", "nobody").code == 3
    assert person.run("compat", "nothing").code == 2


def test_prove_finds_out_what_a_program_sends(person: Person) -> None:
    """A program that asks its model with nothing of the history: refused from then on."""
    empty = person.path / "bin/codex"
    empty.parent.mkdir()
    empty.write_text(
        "#!/bin/sh\n"
        '[ "$1" = --version ] && echo codex-cli 9.9.9 && exit\n'
        'url=$(sed -n "s/^base_url = \\"\\(.*\\)\\"/\\1/p" "$HOME/.codex/config.toml")\n'
        "for last; do :; done\n"
        'exec python3 -c "import sys, urllib.request as r, json; '
        "r.urlopen(r.Request(sys.argv[1], json.dumps({'input': sys.argv[2]}).encode()))\" "
        '"$url/responses" "$last"\n'
    )
    empty.chmod(0o755)
    path = f"{empty.parent}:/usr/local/bin:/usr/bin:/bin"
    done = person.run("compat", "prove", "codex", "--json", env={"PATH": path}, timeout=100)
    assert done.code == 1
    runs = done.data
    assert {run["source"] for run in runs} >= {"claude", "codex"}
    assert not any(run.get("passed", True) for run in runs)
    assert all("entries were not sent" in run["note"] for run in runs)
    pairs = person.run("compat", "--json").data["pairs"]
    refused = [p for p in pairs if p["verdict"] == "refused" and p["target"] == "codex"]
    assert {p["target_versions"][0] for p in refused} == {"9.9.9"}
