"""Run by a Python with the official SDK: every method, every fault. Prints what it saw as JSON."""

import asyncio
import inspect
import json
import os

import ultracontext
from ultracontext import AsyncUltraContext, UltraContext, UltraContextError, UltraContextHttpError

URL, KEY = os.environ["UC_URL"], os.environ["UC_KEY"]
UNKNOWN = "ctx_" + "0" * 24
seen = []


def expect(true, what):
    assert true, what
    seen.append(what)


async def call(found):
    return await found if inspect.isawaitable(found) else found


async def fault(status, text, work):
    try:
        await call(work())
    except UltraContextHttpError as error:
        assert isinstance(error, UltraContextError)
        assert error.status == status, (error.status, error.body)
        assert json.loads(error.body) == {"error": text}, error.body
        assert str(error) == f"HTTP {status}: {error.body}"
        assert error.url.startswith(URL)
        seen.append(f"{status} {text}")
    else:
        raise AssertionError(f"no fault: {text}")


async def methods(uc):
    empty = await call(uc.create())
    expect(set(empty) == {"id", "metadata", "created_at"}, "create without a body")
    made = await call(uc.create(metadata={"source": "sdk", "n": [1, None]}))
    expect(made["metadata"] == {"source": "sdk", "n": [1, None]}, "create with metadata")
    name = made["id"]
    one = await call(uc.append(name, {"role": "user", "content": "a", "metadata": {"m": 1}}))
    expect(one["version"] == 0 and one["data"][0]["index"] == 0, "append one")
    two = await call(uc.append(name, [{"role": "assistant", "content": "b"}, {"content": "c"}]))
    expect([m["index"] for m in two["data"]] == [1, 2], "append several")
    got = await call(uc.get(name))
    expect([m["content"] for m in got["data"]] == ["a", "b", "c"], "get")
    expect(got["data"][0]["metadata"] == {"m": 1} and "versions" not in got, "get metadata")
    changed = await call(uc.update(name, index=0, content="A", metadata={"why": "x"}))
    expect(changed["version"] == 1 and changed["data"][0]["content"] == "A", "update by index")
    ids = [m["id"] for m in changed["data"]]
    changed = await call(uc.update(name, id=ids[1], content="B"))
    expect([m["content"] for m in changed["data"]] == ["A", "B", "c"], "update by id")
    batch = [{"index": -1, "content": "C"}, {"id": ids[0], "extra": None}]
    changed = await call(uc.update(name, batch, metadata={"batch": True}))
    expect(changed["data"][2]["content"] == "C" and "extra" in changed["data"][0], "update a batch")
    sealed = await call(uc.update(name, []))
    expect(sealed["version"] == 4, "update of nothing")
    history = await call(uc.get(name, history=True))
    expect([v["version"] for v in history["versions"]] == [0, 1, 2, 3, 4], "history")
    expect(history["versions"][1]["metadata"] == {"why": "x"}, "version metadata")
    expect(history["versions"][0]["affected"] is None, "affected of create")
    old = await call(uc.get(name, version=0, at=1))
    expect([m["content"] for m in old["data"]] == ["a", "b"], "get by version and at")
    now = await call(uc.get(name, before="2035-01-01T00:00:00Z"))
    expect(len(now["data"]) == 3, "get by time")
    fork = await call(
        uc.create(from_=name, version=0, before="2035-01-01", at=0, metadata={"f": 1})
    )
    expect([m["content"] for m in (await call(uc.get(fork["id"])))["data"]] == ["a"], "fork")
    gone = await call(uc.delete(name, 0))
    expect(len(gone["data"]) == 2 and gone["version"] == 5, "delete by index")
    gone = await call(uc.delete(name, [gone["data"][0]["id"], -1], metadata={"d": 1}))
    expect(gone["data"] == [], "delete several")
    rows = await call(uc.get())
    expect({r["id"] for r in rows["data"]} >= {name, fork["id"], empty["id"]}, "list")
    expect(len((await call(uc.get(limit=2)))["data"]) == 2, "list with a limit")
    wiped = await call(uc.delete(name, permanent=True, metadata={"by": "sdk"}))
    expect(wiped == {"deleted": True, "id": name, "metadata": {"by": "sdk"}}, "permanent delete")
    many = await call(uc.delete_many([fork["id"], name]))
    expect(many["deleted_count"] == 1 and many["results"][1]["deleted"] is False, "delete some")
    expect((await call(uc.delete_many([name])))["deleted_count"] == 0, "delete none")
    expect((await call(uc.delete_many([empty["id"]])))["deleted_count"] == 1, "delete all")
    return name


async def faults(uc, other):
    name = (await call(uc.create()))["id"]
    await call(uc.append(name, [{"content": "a"}]))
    await fault(404, "Context not found", lambda: uc.get(UNKNOWN))
    await fault(404, "Context not found", lambda: uc.append(UNKNOWN, {"a": 1}))
    await fault(404, "Context not found", lambda: uc.update(UNKNOWN, index=0, a=1))
    await fault(404, "Context not found", lambda: uc.delete(UNKNOWN, 0))
    await fault(404, "Context not found", lambda: uc.delete(UNKNOWN, permanent=True))
    await fault(404, "Context not found", lambda: uc.get("a/b?c"))
    await fault(404, "Context not found", lambda: other.get(name))
    await fault(404, "Source context not found", lambda: uc.create(from_=UNKNOWN))
    await fault(404, "Source context not found", lambda: other.create(from_=name))
    await fault(404, "Version not found", lambda: uc.get(name, version=9))
    await fault(404, "Version not found", lambda: uc.create(from_=name, version=9))
    await fault(404, "No version found before timestamp", lambda: uc.get(name, before="2020-01-01"))
    await fault(404, "Index out of range", lambda: uc.get(name, at=9))
    await fault(400, "Invalid index", lambda: uc.get(name, at=-1))
    await fault(400, "Invalid index", lambda: uc.create(from_=name, at=9))
    await fault(400, "Invalid timestamp format", lambda: uc.get(name, before="x"))
    await fault(400, "Invalid timestamp format", lambda: uc.create(from_=name, before="x"))
    await fault(400, "version, at, and before require from", lambda: uc.create(version=1))
    await fault(400, "updates must be an array", lambda: uc.update(name, {"index": 0, "a": 1}))
    await fault(400, "Cannot specify both id and index", lambda: uc.update(name, id="x", index=0))
    await fault(400, "Either id or index required", lambda: uc.update(name, a=1))
    await fault(400, "Index out of range: 7", lambda: uc.update(name, index=7, a=1))
    await fault(404, "Message not found: x", lambda: uc.update(name, id="x", a=1))
    await fault(400, "Index out of range: -9", lambda: uc.delete(name, -9))
    await fault(404, "Message not found: x", lambda: uc.delete(name, ["x"]))
    await fault(400, "ids must be a non-empty array", lambda: uc.delete(name, []))
    await fault(400, "ids must contain at most 100 items", lambda: uc.delete_many(["x"] * 101))
    await fault(
        400, "Request body must be a message or a non-empty array of messages",
        lambda: uc.append(name, []),
    )  # fmt: skip
    for wrong in (lambda: uc.delete(name), lambda: uc.delete(name, 0, permanent=True)):
        try:
            await call(wrong())
        except ValueError:
            seen.append("ValueError before anything is sent")
        else:
            raise AssertionError("no ValueError")


async def main():
    for kind in (UltraContext, AsyncUltraContext):
        uc, other = kind(KEY, base_url=URL + "/"), kind(os.environ["UC_OTHER"], base_url=URL)
        await methods(uc)
        await faults(uc, other)
        nobody = kind("uc_live_nobody", base_url=URL)
        await fault(401, "Unauthorized", lambda nobody=nobody: nobody.get())
    print(json.dumps({"seen": len(seen), "file": ultracontext.__file__}))


asyncio.run(main())
