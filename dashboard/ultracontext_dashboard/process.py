"""Runs `ultracontext` itself, in the person's own process group, for what writes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ultracontext.errors import TransportError

SECONDS = 120.0
LONGEST_ANSWER = 64 << 20


async def run_json(
    command: Sequence[str], env: Mapping[str, str], *, seconds: float = SECONDS
) -> Any:
    """The command's JSON. TransportError with the command's own message when it fails."""
    code, out, err = await _run(command, env, seconds)
    if code == 0:
        try:
            return json.loads(out)
        except ValueError as error:
            raise TransportError(f"`{_name(command)}` answered no JSON", code="program") from error
    raise _failure(command, code, err)


async def _run(
    command: Sequence[str], env: Mapping[str, str], seconds: float
) -> tuple[int, bytes, bytes]:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_ANSWER,
        )
    except OSError as error:
        raise TransportError(
            f"cannot start `{_name(command)}` ({error.strerror})", code="program"
        ) from error
    try:
        async with asyncio.timeout(seconds):
            out, err = await process.communicate()
    except TimeoutError as error:
        process.kill()
        await process.wait()
        raise TransportError(
            f"`{_name(command)}` did not end within {seconds:.0f} s", code="program"
        ) from error
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    return process.returncode or 0, out, err


def _name(command: Sequence[str]) -> str:
    words = [word for word in command[1:] if not word.startswith("-")]
    return " ".join(["ultracontext", *words[-2:]])


def _failure(command: Sequence[str], code: int, err: bytes) -> TransportError:
    for line in reversed(err.decode("utf-8", "replace").splitlines()):
        try:
            found = json.loads(line)["error"]
            return TransportError(
                str(found["message"]), code=str(found["code"]), hint=str(found.get("hint", ""))
            )
        except (ValueError, KeyError, TypeError):
            continue
    last = err.decode("utf-8", "replace").strip().splitlines()[-1:] or [f"exit code {code}"]
    return TransportError(last[0][:300], code="program")
