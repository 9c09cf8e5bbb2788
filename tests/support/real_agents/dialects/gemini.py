"""Google's Gemini API: `POST …/models/MODEL:streamGenerateContent` and its siblings."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

from real_agents.conversation import Entry, Step, strings
from real_agents.server import Body

# What the CLI's own questions want: which model, who speaks next, does it loop.
_JSON_ANSWER = json.dumps(
    {
        "reasoning": "none", "model_choice": "flash", "complexity_reasoning": "none",
        "complexity_score": 10, "next_speaker": "user", "confidence": 0.0,
        "unproductive_state_analysis": "none", "unproductive_state_confidence": 0.0,
    }
)  # fmt: skip


class Gemini:
    def asks(self, path: str) -> bool:
        return path.endswith((":generateContent", ":streamGenerateContent"))

    def is_turn(self, path: str, body: Body) -> bool:
        tools = body.get("tools") or []
        declared = any(tool.get("functionDeclarations") for tool in tools)
        return path.endswith(":streamGenerateContent") and declared

    def streams(self, path: str, body: Body) -> bool:
        return path.endswith(":streamGenerateContent")

    def other(self, path: str, body: Body) -> Body:
        if path.endswith(":countTokens"):
            return {"totalTokens": 100}
        return {"models": []} if path.endswith("/models") else {}

    def entries(self, body: Body) -> list[Entry]:
        return [
            entry
            for content in body.get("contents", [])
            for part in content.get("parts", [])
            if (entry := _entry(content.get("role", "user"), part)) is not None
        ]

    def whole(self, body: Body, step: Step) -> Body:
        config = body.get("generationConfig") or {}
        if "json" in str(config.get("responseMimeType", "")):
            step = Step(text=_JSON_ANSWER)
        return _answer(_parts(step))

    def events(self, body: Body, step: Step) -> Iterator[tuple[str | None, Body]]:
        yield None, self.whole(body, step)


def _entry(role: str, part: Body) -> Entry | None:
    if (call := part.get("functionCall")) is not None:
        text = f"{call['name']}\n{strings(call.get('args'))}"
        return Entry(kind="tool_call", text=text, name=call["name"], call_id=call.get("id"))
    if (result := part.get("functionResponse")) is not None:
        text = strings(result.get("response"))
        name = result.get("name")
        return Entry(kind="tool_result", text=text, name=name, call_id=result.get("id"))
    if "text" not in part:
        return None
    if part.get("thought"):
        return Entry(kind="reasoning", text=part["text"])
    return Entry(kind="assistant" if role == "model" else "user", text=part["text"])


def _parts(step: Step) -> list[Body]:
    parts: list[Body] = [{"text": step.text}] if step.text else []
    if step.call:
        call = {"id": step.call.id, "name": step.call.name, "args": step.call.input}
        parts.append({"functionCall": call})
    return parts


def _answer(parts: list[Body]) -> Body:
    return {
        "candidates": [
            {"content": {"role": "model", "parts": parts}, "index": 0, "finishReason": "STOP"}
        ],
        "modelVersion": "gemini-mock",
        "responseId": uuid.uuid4().hex,
        "usageMetadata": {
            "promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120
        },
    }  # fmt: skip
