"""Run by a Python with an UltraContext SDK: the guide's blocks as printed. Says what came."""

import json
import os
import sys

import ultracontext

given = json.load(sys.stdin)
Client = ultracontext.UltraContext
if "UC_URL" in os.environ:  # the official SDK reads no variable for its server
    Client.DEFAULT_BASE_URL = os.environ["UC_URL"]

created, original = [], Client.create


def create(self, **fields):
    made = original(self, **fields)
    created.append(made["id"])
    return made


Client.create = create
uc = Client(api_key=os.environ["ULTRACONTEXT_API_KEY"])


def generate(context_id, model=None):
    uc.append(context_id, {"role": "assistant", "content": f"an answer of {model}"})
    return f"answer {model}"


space = {"uc": uc, "generate": generate, "context_id": given["context_id"]}
found = {}


def contents(name):
    return [m["content"] for m in uc.get(name)["data"]]


for name, code in given["blocks"].items():
    created.clear()
    exec(compile(code, name, "exec"), space)
    found[name] = [contents(one) for one in created]

source = uc.create()["id"]
uc.append(source, [{"content": "first"}, {"content": "second"}])


def failing():
    uc.append(source, {"content": "half a step"})
    raise RuntimeError("it failed")


step = space["safe_agent_step"]
found["step"] = step(source, lambda: "done")
found["after step"] = contents(source)
before = contents(source)
back = step(source, lambda: (_ for _ in ()).throw(RuntimeError("no")))
found["rolled back"] = contents(back["rolled_back_to"]) == before
found["rolled back success"] = back["success"]
half = step(source, failing)
found["half a step"] = contents(half["rolled_back_to"])
branches = [space["branch_from_message"](source, n % 2 + 1) for n in range(given["branches"])]
found["branch"] = contents(branches[1])
listed = space["get_branches"](source)
found["branches"] = len({row["id"] for row in listed} & set(branches))
found["file"] = ultracontext.__file__
print(json.dumps(found))
