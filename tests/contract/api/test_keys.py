"""Keys: `/v1/keys`, roles, revocation, masking on the way in."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from api_server import ADMIN, ApiServer, Caller, refused

from ultracontext.store.keys import open_keys
from ultracontext.store.keys.base import Role
from ultracontext.store.keys.memory import MemoryKeys


@pytest.fixture
def admin(server: ApiServer) -> Iterator[Caller]:
    caller = Caller(server.url, ADMIN)
    yield caller
    caller.close()


def test_a_key_for_a_new_space_each_time(server: ApiServer, admin: Caller) -> None:
    made = [admin.post("/v1/keys", {"name": "team"}) for _ in range(2)]
    assert [one.status_code for one in made] == [200, 200]
    body = made[0].json()
    assert re.fullmatch(r"uc_live_[0-9A-Za-z]{48}", body["key"])
    assert body["key"].startswith(body["prefix"])
    assert body["project_id"] == body["space"] != made[1].json()["space"]
    assert body["role"] == "write"
    one, two = (Caller(server.url, m.json()["key"]) for m in made)
    name = one.context("a")
    refused(two.get(f"/contexts/{name}"), 404, "Context not found")
    one.close()
    two.close()


@pytest.mark.parametrize("raw", [b"", b"{", b"null", b"[]", b"{}", b'{"name":""}', b'{"name":5}'])
def test_a_name_is_required(admin: Caller, raw: bytes) -> None:
    refused(admin.post("/v1/keys", raw=raw), 400, "name is required")


def test_faults_of_a_key(admin: Caller) -> None:
    for more in (
        {"role": "owner"},
        {"redact_on_ingest": "yes"},
        {"name": "\0"},
        {"name": "x" * 201},
    ):
        assert admin.post("/v1/keys", {"name": "x", **more}).status_code == 400


def test_lists_show_no_secret(admin: Caller) -> None:
    made = admin.post("/v1/keys", {"name": "shown", "role": "read"}).json()
    text = admin.get("/v1/keys").text
    assert made["prefix"] in text
    assert made["key"] not in text
    row = next(r for r in admin.get("/v1/keys").json()["data"] if r["prefix"] == made["prefix"])
    assert (row["role"], row["revoked_at"]) == ("read", None)
    assert "digest" not in row


def test_a_revoked_key_is_refused_at_once(server: ApiServer, admin: Caller) -> None:
    made = admin.post("/v1/keys", {"name": "gone"}).json()
    caller = Caller(server.url, made["key"])
    assert caller.get("/contexts").status_code == 200
    gone = admin.delete(f"/v1/keys/{made['prefix']}")
    assert (gone.status_code, gone.json()["revoked"]) == (200, True)
    refused(caller.get("/contexts"), 401, "Unauthorized")
    refused(admin.delete("/v1/keys/uc_live_none"), 404, "Key not found")
    caller.close()


def test_a_key_revoked_elsewhere_is_refused_within_a_second(server: ApiServer, uc: Caller) -> None:
    assert uc.get("/contexts").status_code == 200
    prefix = str(uc.key)[:20]
    server.keys.revoke(prefix, now=datetime.now(UTC))  # past the server's cache
    deadline = time.monotonic() + 1.5
    while uc.get("/contexts").status_code == 200:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    refused(uc.get("/contexts"), 401, "Unauthorized")


def test_another_secret_behind_a_known_prefix_is_refused(server: ApiServer, uc: Caller) -> None:
    key = str(uc.key)
    for wrong in (
        key[:-1] + ("a" if key[-1] != "a" else "b"),
        key[:20],
        key + "a",
        key[:20] + "x" * 36,
    ):
        caller = Caller(server.url, wrong)
        refused(caller.get("/contexts"), 401, "Unauthorized")
        caller.close()


READS = [
    "/contexts",
    "/contexts/{id}",
    "/contexts/{id}/info",
    "/contexts/{id}/log",
    "/v1/tombstones",
]


@pytest.mark.parametrize("role", ["read", "write", "admin", "ingest"])
def test_roles(server: ApiServer, make: type[Caller], uc: Caller, role: Role) -> None:
    space = server.keys.rows()[-1].space
    name = uc.context("a")
    caller = server.caller(space, role)
    reads = {caller.get(path.format(id=name)).status_code for path in READS}
    writes = {
        caller.post("/contexts", {}).status_code // 100,
        caller.post(f"/contexts/{name}", {"a": 1}).status_code // 100,
        caller.patch(f"/contexts/{name}", []).status_code // 100,
        caller.delete(f"/contexts/{name}", {"ids": 0}).status_code // 100,
        caller.post("/contexts/delete-many", {"ids": ["x"]}).status_code // 100,
        caller.post(f"/contexts/{name}/repair").status_code // 100,
    }
    assert reads == ({403} if role == "ingest" else {200})
    assert writes == ({2} if role in ("write", "admin") else {4})
    keys = caller.get("/v1/keys")
    assert keys.status_code == (200 if role == "admin" else 401)
    caller.close()


def test_a_key_of_the_role_admin_keeps_to_its_space(server: ApiServer, admin: Caller) -> None:
    made = admin.post("/v1/keys", {"name": "ours", "role": "admin"}).json()
    other = admin.post("/v1/keys", {"name": "theirs"}).json()
    caller = Caller(server.url, made["key"])
    assert [row["prefix"] for row in caller.get("/v1/keys").json()["data"]] == [made["prefix"]]
    second = caller.post("/v1/keys", {"name": "more"}).json()
    assert second["space"] == made["space"]
    refused(caller.delete(f"/v1/keys/{other['prefix']}"), 404, "Key not found")
    assert caller.delete(f"/v1/keys/{second['prefix']}").status_code == 200
    caller.close()


def test_last_use_is_recorded(server: ApiServer, uc: Caller) -> None:
    uc.get("/contexts")
    server.service.ring.record_use()
    row = next(r for r in server.keys.rows() if r.prefix == str(uc.key)[:20])
    assert row.last_used_at is not None


SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def test_what_a_key_appends_is_masked_where_that_is_asked(make: type[Caller]) -> None:
    caller = make(redact=True)  # type: ignore[call-arg]
    name = caller.context(
        {"content": f"token {SECRET}", "metadata": {"t": SECRET}, SECRET: 1},
        metadata={"m": f"x {SECRET}"},
    )
    caller.patch(f"/contexts/{name}", {"index": 0, "more": SECRET, "metadata": {"v": SECRET}})
    caller.post("/contexts", {"metadata": [SECRET]})
    for path in (f"/contexts/{name}?history=true", f"/contexts/{name}?version=0", "/contexts"):
        found = caller.get(path)
        assert found.status_code == 200
        assert SECRET not in found.text
        assert "GITHUB" in found.text.upper()


def test_what_is_appended_comes_back_as_it_was_without_that(uc: Caller) -> None:
    name = uc.context(f"token {SECRET}")
    assert uc.contents(name) == [f"token {SECRET}"]


def test_keys_of_a_file_are_shared_by_processes(tmp_path: Path) -> None:
    from ultracontext.store import open_store

    url = tmp_path / "store.db"
    store = open_store(url, migrate=True)
    one, two = open_keys(store, url), open_keys(store, url)
    assert not isinstance(one, MemoryKeys)
    from ultracontext.store.keys import issue

    before = two.epoch()
    made = issue(one, name="n", space="s", new_space=True, now=datetime.now(UTC))
    assert two.epoch() != before
    assert two.find(made.prefix) is not None
    assert (tmp_path / "store.keys.db").stat().st_mode & 0o777 == 0o600
    two.revoke(made.prefix, now=datetime.now(UTC))
    assert one.find(made.prefix) is None
    one.close()
    two.close()
    store.close()
