"""`context`, `serve`, `keys`, `export`, `import`, `forget` as a person runs them."""

from __future__ import annotations

import json
import signal
import stat
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from program import Person, Result, wait_for

pytestmark = pytest.mark.timeout(180)

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    made = Person(path=tmp_path)
    yield made
    made.end()


class Server:
    """`ultracontext serve` of a person."""

    def __init__(self, person: Person, *more: str) -> None:
        self.process = person.start(
            "serve", "--port", "0", "--json", *more, env={"ULTRACONTEXT_ADMIN_KEY": "admin-key"}
        )
        assert self.process.stdout is not None
        self.url: str = json.loads(self.process.stdout.readline())["url"]

    def get(self, path: str, key: str) -> Any:
        request = urllib.request.Request(self.url + path)
        request.add_header("Authorization", f"Bearer {key}")
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


def ran(result: Result) -> Any:
    assert result.code == 0, result.err
    return result.data


def made(person: Person, *texts: str, env: dict[str, str] | None = None) -> str:
    name: str = ran(person.run("context", "create", "--json", env=env))["id"]
    for text in texts:
        ran(person.run("context", "append", name, text, "--json", env=env))
    return name


def contents(person: Person, name: str, env: dict[str, str] | None = None) -> list[Any]:
    """By an export, which is the one command that prints a whole context."""
    done = person.run("export", name, "--raw", env=env)
    lines = [json.loads(line) for line in done.out.splitlines()]
    return [line["content"].get("content") for line in lines if line["type"] == "message"]


def story(person: Person, env: dict[str, str] | None = None) -> None:
    """The git-like operations, on whatever store the environment names."""

    def run(*words: str, code: int = 0) -> Result:
        done = person.run(*words, env=env)
        assert done.code == code, done.err + done.out
        return done

    name = made(person, "a", "b", env=env)
    run("context", "append", name, "--message", '[{"content":"c"},{"content":"d"}]', "--json")
    assert run("context", "update", name, "-1", "--content", "D", "--json").data["version"] == 1
    run("context", "update", name, "0", "--set", '{"x":null}', "--remove", "role", "--json")
    sealed = run("context", "checkpoint", name, "--json").data
    assert sealed == {"sealed": 2, "version": 3}
    fork = run("context", "fork", name, "--version", "0", "--at", "1", "--json").data["id"]
    assert contents(person, fork, env) == ["a", "b"]
    assert run("context", "delete", name, "1", "-1", "--json").data["version"] == 4
    difference = run("context", "diff", name, "--json").data
    assert [m["content"] for m in difference["removed"]] == ["b", "D"]
    assert "- 1 " in run("context", "diff", name).out
    log = run("context", "log", name, "--json").data
    assert [e["operation"] for e in log] == ["create", "update", "update", "update", "delete"]
    assert "version 4" in run("context", "log", name).out
    assert run("context", "verify", name, "--json").data["sound"] is True
    run("context", "update", name, "--set", '{"topic":"tea"}', "--json")
    refused = run("context", "append", name, "late", "--expect", "0", "--json", code=1)
    assert refused.error["code"] == "conflict"
    assert run("context", "update", name, "99", "--content", "x", code=2).err
    assert run("context", "diff", "ctx_" + "0" * 24, "--json", code=1).error["code"] == "not-found"
    assert run("context", "delete", name, "--wipe", "--json", code=3).error["code"] == "unconfirmed"
    gone = run("context", "delete", name, "--wipe", "--yes", "--json").data
    assert gone["deleted"] is True
    assert [e["operation"] for e in run("context", "log", name, "--json").data] == ["wipe"]
    run("context", "append", name, "x", code=1)
    assert contents(person, fork, env) == ["a", "b"]


def test_the_local_store(person: Person) -> None:
    story(person)
    assert stat.S_IMODE((person.home / "store.db").stat().st_mode) == 0o600


def test_a_server(person: Person, tmp_path: Path) -> None:
    """The same commands with ULTRACONTEXT_BASE_URL; what they do is not in the local store."""
    server = Server(person, "--store", f"sqlite://{tmp_path}/served.db")
    store = f"sqlite://{tmp_path}/served.db"
    key = ran(person.run("keys", "create", "team", "--store", store, "--json"))
    assert set(key) == {"key", "prefix", "space", "role", "created_at"}
    assert (key["space"], key["role"]) == ("team", "write")
    env = {"ULTRACONTEXT_BASE_URL": server.url, "ULTRACONTEXT_API_KEY": key["key"]}
    story(person, env)
    assert not (person.home / "store.db").exists()
    wrong = person.run("context", "create", "--json", env={**env, "ULTRACONTEXT_API_KEY": "x"})
    assert (wrong.code, wrong.error["hint"]) == (1, "Set ULTRACONTEXT_API_KEY")
    exported = tmp_path / "out.jsonl"
    kept = made(person, "kept", env=env)
    ran(person.run("export", kept, "-o", str(exported), "--json", env=env))
    assert ran(person.run("import", str(exported), "--json"))["contexts"] == 1
    assert contents(person, kept) == ["kept"]
    found = ran(person.run("forget", kept, "--yes", "--json", env=env))
    assert found == {"wiped": [kept], "kept_forks": [], "clean": True}
    assert server.stop() == 0
    gone = person.run("context", "create", "--json", env=env)
    assert gone.error["code"] == "transport"


def test_appends_updates_exports_and_imports_mask(person: Person, tmp_path: Path) -> None:
    name = made(person, f"token {SECRET}")
    person.run("context", "update", name, "0", "--set", json.dumps({"more": SECRET}))
    assert SECRET not in person.run("export", name, "--raw").out
    ran(person.run("context", "append", name, f"raw {SECRET}", "--raw", "--json"))
    assert SECRET in person.run("export", name, "--raw").out
    masked = tmp_path / "masked.jsonl"
    ran(person.run("export", name, "-o", str(masked), "--json"))
    assert SECRET not in masked.read_text()
    assert stat.S_IMODE(masked.stat().st_mode) == 0o600
    assert person.run("export", name, "-o", str(masked)).code == 1  # it is there
    raw = tmp_path / "raw.jsonl"
    ran(person.run("export", name, "--raw", "-o", str(raw), "--json"))
    other = Person(path=tmp_path / "other")
    other.path.mkdir()
    ran(other.run("import", str(raw), "--json"))
    assert SECRET not in other.run("export", name, "--raw").out
    assert SECRET.encode() not in (other.home / "store.db").read_bytes()


def test_an_export_is_taken_over_with_its_history_and_once(person: Person, tmp_path: Path) -> None:
    name = made(person, "a", "b", "c")
    person.run("context", "update", name, "0", "--content", "A", "--metadata", '{"why":1}')
    person.run("context", "append", name, "d")
    person.run("context", "delete", name, "1")
    person.run("context", "update", name, "--set", '{"topic":"tea"}')
    person.run("context", "checkpoint", name)
    wiped = made(person, "gone")
    ran(person.run("context", "delete", wiped, "--wipe", "--yes", "--json"))
    file = tmp_path / "all.jsonl"
    ran(person.run("export", "-o", str(file), "--json"))
    other = Person(path=tmp_path / "other")
    other.path.mkdir()
    done = ran(other.run("import", str(file), "--json"))
    assert (done["contexts"], done["messages"], done["versions"], done["tombstones"]) == (
        1,
        4,
        4,
        1,
    )
    again = ran(other.run("import", str(file), "--json"))
    assert (again["contexts"], again["messages"], again["versions"]) == (0, 0, 0)
    assert again["present"] == 8
    ours, theirs = (ran(p.run("context", "log", name, "--json")) for p in (person, other))
    told = ("operation", "at", "version", "affected", "messages", "metadata")
    assert [{k: e.get(k) for k in told} for e in ours] == [
        {k: e.get(k) for k in told} for e in theirs
    ]
    for pair in ((0, 1), (1, 2), (2, 3), (0, 4)):
        words = ("context", "diff", name, *map(str, pair), "--json")
        one, two = ran(person.run(*words)), ran(other.run(*words))
        assert strip(one) == strip(two)
    assert ran(other.run("context", "log", wiped, "--json"))[0]["operation"] == "wipe"
    assert other.run("context", "append", wiped, "back").code == 1


def strip(difference: Any) -> str:
    """Without ids: an edited message has another in each store."""
    text = json.loads(json.dumps(difference), object_hook=lambda o: {**o, "id": ""})
    return json.dumps(text, sort_keys=True)


@pytest.mark.parametrize("text", ["", "{", '{"type":"context"}', "[]", '{"a":1}', "\0"])
def test_what_is_no_export(person: Person, tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(text)
    done = person.run("import", str(file), "--json")
    if text:
        assert (done.code, done.error["code"]) == (1, "export-format")
    else:
        assert done.code == 0


def test_forget_wipes_every_byte(person: Person) -> None:
    markers = [f"MARKER-{n:04}-{'x' * 40}" for n in range(20)]
    name = made(person)
    messages = json.dumps([{"content": marker} for marker in markers])
    ran(person.run("context", "append", name, "--message", messages, "--json"))
    fork = ran(person.run("context", "fork", name, "--json"))["id"]
    person.run("context", "update", name, "0", "--content", markers[0] + "changed")
    assert person.run("forget", name, "--json").code == 3
    listed = person.run("forget", name, "--yes")
    assert fork in listed.err
    assert "Wiped 2" in listed.out
    files = [file for file in person.home.rglob("*") if file.is_file()]
    assert (person.home / "store.db") in files
    for file in files:
        assert b"MARKER-" not in file.read_bytes(), file
    assert person.run("context", "log", fork, "--json").data[0]["operation"] == "wipe"


def test_forget_can_leave_forks_and_names_them(person: Person) -> None:
    name = made(person, "a")
    fork = ran(person.run("context", "fork", name, "--json"))["id"]
    done = ran(person.run("forget", name, "--keep-forks", "--yes", "--json"))
    assert (done["wiped"], done["kept_forks"]) == ([name], [fork])
    assert contents(person, fork) == ["a"]


def test_keys(person: Person) -> None:
    first = ran(person.run("keys", "create", "team", "--role", "read", "--json"))
    assert person.run("keys", "create", "team", "--json").error["code"] == "space-exists"
    assert person.run("keys", "create", "team").code == 3
    second = ran(person.run("keys", "create", "ci", "--space", "team", "--test", "--json"))
    assert second["key"].startswith("uc_test_")
    for reserved in ("local", "default"):
        assert person.run("keys", "create", reserved).code == 3
    assert person.run("keys", "create", "x", "--space", "nowhere").code == 3
    assert person.run("keys", "create", "x", "--role", "owner").code == 2
    local = person.run("keys", "create", "me", "--space", "local")
    assert local.code == 0
    assert "0 of this machine's own sessions" in local.err
    rows = ran(person.run("keys", "list", "--json"))
    assert [row["name"] for row in rows] == ["team", "ci", "me"]
    assert first["key"] not in person.run("keys", "list").out + json.dumps(rows)
    assert ran(person.run("keys", "list", "--space", "team", "--json")) == rows[:2]
    assert ran(person.run("keys", "revoke", first["prefix"][:14], "--json"))["revoked"] is True
    assert person.run("keys", "revoke", "uc_live_nothing").code == 1
    assert "revoked" in person.run("keys", "list").out
    assert (person.home / "store.keys.db").stat().st_mode & 0o777 == 0o600


def test_serve_over_this_machine_s_sessions(person: Person) -> None:
    person.chat(turns=2)
    ran(person.run("daemon", "run", "--once", "--json"))
    server = Server(person)
    key = ran(person.run("keys", "create", "me", "--space", "local", "--json"))["key"]
    rows = server.get("/contexts", key)["data"]
    assert len(rows) == 1
    assert rows[0]["metadata"]["source"] == "claude"
    messages = server.get(f"/contexts/{rows[0]['id']}", key)["data"]
    assert messages[0]["role"] == "user"
    assert messages[0]["content"]["message"] == "hello 0"
    assert server.stop() == 0
    access = (person.home / "logs" / "access.log").read_text()
    assert '"route": "/contexts/{id}"' in access
    assert "hello" not in access
    assert key not in access


def test_a_key_for_local_is_refused_while_others_could_use_it(person: Person) -> None:
    server = Server(person, "--host", "0.0.0.0")
    refused = person.run("keys", "create", "me", "--space", "local", "--json")
    assert (refused.code, refused.error["code"]) == (3, "local-space")
    assert person.run("keys", "create", "me", "--space", "local", "--yes").code == 0
    assert server.stop() == 0
    _, told = server.process.communicate()
    assert b"cross the network in clear" in told


def test_a_stop_finishes_what_was_accepted(person: Person) -> None:
    import threading

    server = Server(person)
    key = ran(person.run("keys", "create", "team", "--json"))["key"]
    headers = {"Authorization": f"Bearer {key}"}
    made_by = urllib.request.Request(f"{server.url}/contexts", b"{}", headers, method="POST")
    with urllib.request.urlopen(made_by, timeout=20) as answer:
        name = json.load(answer)["id"]
    body = json.dumps([{"content": "x" * 1000} for _ in range(8000)]).encode()
    found: list[int] = []

    def append() -> None:
        request = urllib.request.Request(f"{server.url}/contexts/{name}", body, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            found.append(len(json.load(answer)["data"]))

    thread = threading.Thread(target=append)
    thread.start()
    wait_for(lambda: "appended_total" in _metrics(server) and _in_flight(server) >= 1, seconds=20)
    assert server.stop() == 0
    thread.join(60)
    assert found == [8000]


def _metrics(server: Server) -> str:
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=20) as answer:
        text: str = answer.read().decode()
    return text


def _in_flight(server: Server) -> float:
    """Besides the question itself."""
    line = next(
        x
        for x in _metrics(server).splitlines()
        if x.startswith("ultracontext_http_requests_in_flight ")
    )
    return float(line.split()[-1]) - 1


def test_wrong_usage(person: Person) -> None:
    for words in (
        ["serve", "--store", "http://x"], ["keys", "list", "--store", "https://x"],
        ["keys", "list", "--store", "memory://"], ["context", "append", "ctx_1"],
        ["context", "append", "ctx_1", "a", "--message", "{}"], ["context", "update", "ctx_1", "0"],
        ["context", "append", "ctx_1", "--message", "{"], ["context", "delete", "ctx_1"],
        ["context", "create", "--metadata", "[]"], ["forget"], ["forget", "x", "--project", "/y"],
        ["serve", "--port", "99999"],
    ):  # fmt: skip
        done = person.run(*words)
        assert done.code == 2, (words, done.err)
        assert done.err.count("\n") == 1
