"""Session-like files of a wanted record size, the same for the same seed."""

from __future__ import annotations

import json
import random
import uuid
from pathlib import Path

WORDS = (  # noqa: SIM905 - prose reads better than a list of strings
    "the function returns a list of paths which are read in order and then sorted by time so that"
    " every caller sees the same result def class import self return yield async await for in if"
    " else config settings value error handler request response session token buffer stream index"
).split()


def text(rng: random.Random, length: int) -> str:
    parts: list[str] = []
    size = 0
    while size < length:
        word = rng.choice(WORDS)
        parts.append(
            word if rng.random() > 0.06 else word + rng.choice([".\n", "(x)\n", " = {", "};\n"])
        )
        size += len(parts[-1]) + 1
    return " ".join(parts)[:length]


def write_claude(
    root: Path, *, total_bytes: int, record_bytes: int, files: int, seed: int = 7
) -> int:
    """Claude-like sessions below `root`; returns the number of records."""
    rng = random.Random(seed)
    folder = root / "projects" / "-w-app"
    folder.mkdir(parents=True, exist_ok=True)
    per_file = total_bytes // files
    count = 0
    for _ in range(files):
        session = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        parent = None
        size = 0
        with (folder / f"{session}.jsonl").open("w") as out:
            turn = 0
            while size < per_file:
                record = _record(rng, session, parent, turn, record_bytes)
                parent = record["uuid"]
                line = json.dumps(record, separators=(",", ":")) + "\n"
                out.write(line)
                size += len(line)
                turn += 1
                count += 1
    return count


def _record(
    rng: random.Random, session: str, parent: object, turn: int, size: int
) -> dict[str, object]:
    name = str(uuid.UUID(int=rng.getrandbits(128), version=4))
    clock = f"{turn // 3600 % 24:02d}:{turn // 60 % 60:02d}:{turn % 60:02d}"
    stamp = f"2026-11-{1 + turn // 86400 % 28:02d}T{clock}.000Z"
    common = {
        "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/w/app",
        "sessionId": session, "version": "2.1.332", "gitBranch": "main",
    }  # fmt: skip
    room = max(20, int((size - 480) * rng.uniform(0.6, 1.4)))
    if turn % 4 == 0:
        message: dict[str, object] = {"role": "user", "content": text(rng, room)}
        kind = "user"
    elif turn % 4 == 2:
        content = [
            {"tool_use_id": f"toolu_{turn}", "type": "tool_result", "content": text(rng, room)}
        ]
        message, kind = {"role": "user", "content": content}, "user"
    else:
        block: dict[str, object] = {"type": "text", "text": text(rng, max(20, room - 220))}
        if turn % 4 == 1:
            block = {
                "type": "tool_use", "id": f"toolu_{turn + 1}", "name": "Bash",
                "input": {"command": text(rng, max(20, room - 260)), "description": "run"},
            }  # fmt: skip
        message = {
            "id": f"msg_{turn:024d}", "type": "message", "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [block], "stop_reason": "end_turn",
            "usage": {"input_tokens": 205, "output_tokens": 71, "service_tier": "standard"},
        }  # fmt: skip
        kind = "assistant"
    return {**common, "type": kind, "message": message, "uuid": name, "timestamp": stamp}
