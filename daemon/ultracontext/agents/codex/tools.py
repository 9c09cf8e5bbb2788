"""Tool calls and outputs: how they read, and whether they failed."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from ultracontext.agents.codex.content import readable
from ultracontext.agents.codex.line import Dict, as_dict, as_text

_MAIN_ARGUMENTS = ("cmd", "command", "input", "path", "query", "prompt", "chars", "message")
_STATUS = re.compile(r"(?:^Exit code: |^Process exited with code )(-?\d+)", re.MULTILINE)
_FAILED = (
    "unsupported call:",
    "apply_patch verification failed",
    "Script failed",
    "execution error:",
    "failed to parse function arguments",
    "aborted",
)
_CUT = re.compile(r"…\d+ (?:tokens|chars|lines|bytes) truncated…|\[\.\.\. omitted \d+ of \d+ lines")
_SHELLS = frozenset({"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash"})
_OUTPUT_MARK = "\nOutput:\n"


def parse(text: object) -> Any:
    """Arguments as an object where the string holds one, else as they are."""
    if type(text) is str and text.startswith(("{", "[")):
        try:
            return orjson.loads(text)
        except ValueError:
            return text
    return text


def call_text(name: str, given: Any) -> str:
    """`exec_command: cat README.md`."""
    if type(given) is dict:
        for key in _MAIN_ARGUMENTS:
            value = given.get(key)
            if type(value) is str:
                return f"{name}: {value}"
            if type(value) is list and value:
                return f"{name}: {command_text(value)}"
        if type(given.get("changes")) is dict:
            return f"{name}: {', '.join(given['changes'])}"
    if type(given) is str:
        return f"{name}: {given}" if given else name
    if given is None or given == {}:
        return name
    return f"{name}: {compact(given)}"


def command_text(command: object) -> str:
    """A command as typed into a shell; `bash -lc` around it left out."""
    if type(command) is str:
        return command
    if type(command) is not list:
        return ""
    words = [word for word in command if type(word) is str]
    if len(words) == 3 and words[0] in _SHELLS and words[1] in ("-lc", "-c"):
        return words[2]
    return " ".join(words)


def compact(value: Any) -> str:
    """JSON text of a value that came out of JSON."""
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError):  # depth over 254, numbers over 64 bits, lone surrogates
        pass
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return f"[{type(value).__name__}]"


def output_text(output: Any) -> str:
    """What a person reads of an output; the JSON that 0.45 and 0.77 put around it left out."""
    if type(output) is list:
        return readable(output)
    if type(output) is not str:
        return "" if output is None else compact(output)
    if output.startswith('{"output":'):
        inner = as_dict(parse(output)).get("output")
        return inner if type(inner) is str else output
    return output


def failed(output: Any) -> bool | None:
    """Whether the output itself tells of a failure; None when it does not say."""
    if type(output) is list:
        output = readable(output[:4])
    if type(output) is not str:
        success = as_dict(output).get("success")
        return not success if type(success) is bool else None
    if output.startswith('{"output":'):
        code = as_dict(as_dict(parse(output)).get("metadata")).get("exit_code")
        return code != 0 if type(code) is int else None
    match = _STATUS.search(output, 0, 400)
    if match is not None:
        return match.group(1) != "0"
    if output.startswith(_FAILED):
        return True
    return False if output.startswith("Script completed") else None


def whole_output(cut: Any, longer: Any) -> Any:
    """The event's text where the model's was cut in the middle, under the head of the latter."""
    if type(cut) is not str or type(longer) is not str:
        return cut
    if len(longer) <= len(cut) - 200 or not _CUT.search(cut):
        return cut
    head, mark, _ = cut[:2000].partition(_OUTPUT_MARK)
    return head + mark + longer if mark else longer


class Run:
    """A call as the screen's event tells it: complete, under the call's id where it has one."""

    __slots__ = ("call_id", "error", "extra", "given", "name", "output")

    def __init__(
        self, name: str, call_id: str, given: Any, output: Any, error: bool | None
    ) -> None:
        self.name = name
        self.call_id = call_id
        self.given = given
        self.output = output
        self.error = error
        self.extra: Dict = {}


def run_of(kind: str, item: Dict) -> Run | None:
    """The run that an `item_completed` item or a legacy `…_end` event tells of."""
    make = _RUNS.get(kind)
    return make(item) if make is not None else None


def _id(item: Dict) -> str:
    return as_text(item.get("id")) or as_text(item.get("call_id"))


def _bad(item: Dict) -> bool | None:
    code = item.get("exit_code")
    if type(code) is int:
        return code != 0
    success, status = item.get("success"), item.get("status")
    if type(success) is bool:
        return not success
    return status in ("failed", "declined") if type(status) is str else None


def _command(item: Dict) -> Run:
    output = item.get("aggregated_output")
    if type(output) is not str:
        output = as_text(item.get("stdout")) + as_text(item.get("stderr"))
    given = {"cmd": command_text(item.get("command"))}
    run = Run("exec_command", _id(item), given, output, _bad(item))
    if item.get("source") in ("user_shell", "userShell"):
        run.extra["source"] = "user_shell"
    return run


def _patch(item: Dict) -> Run:
    changes = as_dict(item.get("changes"))
    output = as_text(item.get("stdout")) + as_text(item.get("stderr"))
    run = Run("apply_patch", _id(item), {"changes": changes}, output, _bad(item))
    run.extra["files"] = sorted(path for path in changes if type(path) is str)
    return run


def _mcp(item: Dict) -> Run:
    invocation = as_dict(item.get("invocation")) or item
    server, tool = as_text(invocation.get("server")), as_text(invocation.get("tool"))
    result, error = item.get("result"), item.get("error")
    inner = as_dict(result)
    if len(inner) == 1 and ("Ok" in inner or "Err" in inner):
        result, error = inner.get("Ok"), inner.get("Err")
    output: Any = result
    bad = False
    if type(result) is dict:
        output, bad = result.get("content"), result.get("isError") is True
    if error is not None:
        output, bad = as_text(as_dict(error).get("message")) or error, True
    return Run(f"mcp__{server}__{tool}", _id(item), invocation.get("arguments"), output, bad)


def _dynamic(item: Dict) -> Run:
    output = item.get("content_items") or as_text(item.get("error"))
    name = as_text(item.get("tool")) or "tool"
    return Run(name, _id(item), item.get("arguments"), output, _bad(item))


def _collab(item: Dict) -> Run:
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", as_text(item.get("tool"))).lower() or "agent"
    return Run(name, _id(item), {"prompt": as_text(item.get("prompt"))}, None, _bad(item))


def _view(item: Dict) -> Run:
    path = as_text(item.get("path")).removeprefix("file://")
    return Run("view_image", _id(item), {"path": path}, None, None)


def _image(item: Dict) -> Run:
    given = {"prompt": as_text(item.get("revised_prompt"))}
    saved = as_text(item.get("saved_path"))
    return Run("image_generation", _id(item), given, f"[image {saved}]" if saved else None, None)


_RUNS = {
    # item_completed (0.171 [E]: CommandExecution, FileChange, ImageView; the others S:
    # openai/codex, codex-rs/protocol/src/items.rs, 2026)
    "CommandExecution": _command,
    "FileChange": _patch,
    "ImageView": _view,
    "McpToolCall": _mcp,
    "DynamicToolCall": _dynamic,
    "CollabAgentToolCall": _collab,
    "ImageGeneration": _image,
    # event_msg (S: openai/codex, codex-rs/rollout/src/policy.rs, 2025 and 2026)
    "exec_command_end": _command,
    "patch_apply_end": _patch,
    "mcp_tool_call_end": _mcp,
    "dynamic_tool_call_response": _dynamic,
    "view_image_tool_call": _view,
    "image_generation_end": _image,
}
RUN_EVENTS = frozenset(kind for kind in _RUNS if kind[0].islower())
RUN_ITEMS = frozenset(kind for kind in _RUNS if kind[0].isupper())
