"""Which folder a session belongs to: marker, registry, hash, or unknown."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

PATH = "/home/dev/My App"
HASH = sha256(PATH.encode()).hexdigest()
MARKER = "tmp/acme-api/.project_root"


def registry(**projects: str) -> bytes:
    return json.dumps({"projects": {path: slug for slug, path in projects.items()}}).encode()


def project(lab: Any, known: dict[str, bytes], *natives: Any, path: str = "", **more: Any) -> Any:
    files = lab.files(known).log(path or lab.LOG, [lab.meta(**more), *natives])
    return files.read(next(iter(files.fed))).facts.project_path


def test_the_marker_says_it(lab: Any) -> None:
    assert project(lab, {MARKER: PATH.encode()}) == PATH
    assert project(lab, {"history/acme-api/.project_root": f"{PATH}\n".encode()}) == PATH


def test_the_marker_wins_over_the_registry(lab: Any) -> None:
    known = {MARKER: PATH.encode(), "projects.json": registry(**{"acme-api": "/other"})}
    assert project(lab, known) == PATH


def test_the_registry_says_it_by_the_slug(lab: Any) -> None:
    known = {"projects.json": registry(other="/x", **{"acme-api": PATH})}
    assert project(lab, known) == PATH


def test_a_hashed_folder_is_the_registered_path_with_that_hash(lab: Any) -> None:
    path = f"tmp/{HASH}/chats/session-1.jsonl"
    known = {"projects.json": registry(one="/x", two=PATH)}
    assert project(lab, known, path=path) == PATH
    assert project(lab, {"projects.json": registry(one="/x")}, path=path) is None


def test_a_hash_proves_what_the_records_name(lab: Any) -> None:
    files = lab.gemini("g", "", toolCalls=[lab.call(args={"file_path": f"{PATH}/src/a.js"})])
    workspace = f"- **Workspace Directories:**\n  - {PATH}\n- **Directory Structure:**"
    assert project(lab, {}, files, projectHash=HASH) == PATH
    assert project(lab, {}, lab.snapshot(lab.context(workspace)), projectHash=HASH) == PATH
    assert project(lab, {}, directories=["/x", PATH], projectHash=HASH) == PATH


@pytest.mark.parametrize("content", [b"", b"relative/path", b"\xff\xfe", b"{}"])
def test_what_is_no_path_is_no_project(lab: Any, content: bytes) -> None:
    assert project(lab, {MARKER: content, "projects.json": content}) is None


def test_nothing_is_guessed_from_a_folders_name(lab: Any) -> None:
    files = lab.gemini("g", "", toolCalls=[lab.call(args={"file_path": f"{PATH}/src/a.js"})])
    assert project(lab, {}, files) is None


def test_a_subagent_and_a_checkpoint_find_their_project(lab: Any) -> None:
    sub = f"{lab.CHATS}/{lab.SESSION}/agent.jsonl"
    assert project(lab, {MARKER: PATH.encode()}, path=sub) == PATH
    history = {"history": [{"role": "user", "parts": [{"text": "q"}]}]}
    files = lab.files({MARKER: PATH.encode()})
    files.document("tmp/acme-api/checkpoint-x.json", history, "history")
    assert files.read("checkpoint-x@acme-api").facts.project_path == PATH
