"""Rows as messages of the wire."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from ultracontext.chain import body_of, dump_json, load_json, members, object_text, parts_of
from ultracontext.errors import BrokenChainError, InvalidMessageError, NotFoundError
from ultracontext.formats import SessionReader
from ultracontext.model import EventId, MessageId, message_id
from ultracontext.redaction import Redactor
from ultracontext.store.base import StoredNode
from ultracontext.store.contexts import NewMessage, StoredMessage
from ultracontext.store.history.rows import Root, Row
from ultracontext.store.values import iso, moment

CONTEXT_ID = re.compile(r"ctx_[0-9a-f]{24}", re.ASCII)
MESSAGE_ID = re.compile(r"msg_[0-9a-f]{24}", re.ASCII)


def known_context(context_id: str) -> str:
    """The id, or NotFoundError for what cannot be one."""
    if not CONTEXT_ID.fullmatch(context_id):
        raise no_context(context_id)
    return context_id


def no_context(context_id: str) -> NotFoundError:
    return NotFoundError(f"no context {context_id!r}", hint="`ultracontext sessions` lists them")


def name_of(message: str) -> bytes | None:
    """The 12 bytes of a message id; None for what is none."""
    if not MESSAGE_ID.fullmatch(message):
        return None
    return bytes.fromhex(message[4:])


def id_of(event_id: bytes) -> MessageId:
    return message_id(EventId(event_id))


def new_body(message: NewMessage) -> tuple[bytes, str]:
    """(what is stored, role). Raises InvalidMessageError."""
    try:
        role = role_in(members(message.content))
        return body_of(message.content, message.metadata), role
    except (ValueError, TypeError, RecursionError) as error:
        raise not_an_object("a message") from error


def not_an_object(what: str) -> InvalidMessageError:
    return InvalidMessageError(f"{what} is not a JSON object", hint="Send an object")


def role_in(values: dict[str, bytes]) -> str:
    """The role, where it is a short text; else `user`."""
    with suppress(ValueError):
        found = load_json(values.get("role", b'""'))
        if isinstance(found, str) and 0 < len(found) <= 64 and found.isascii():
            return found
    return "user"


class Rendering:
    """Rows of one walk as messages. Captured records go through their agent's reader, in order."""

    def __init__(self, root: Root, redactor: Redactor | None) -> None:
        self.root = root
        self.redactor = redactor
        self.reader: SessionReader | None = None
        self.time_ms = root.created_ms

    def wire(self, row: Row, body: bytes, index: int) -> StoredMessage:
        try:
            content, metadata = parts_of(body)
            found = load_json(metadata)
        except ValueError as error:
            raise BrokenChainError(
                self.root.context_id, position=row.position, reason="content"
            ) from error
        return self._message(row, index, content, found)

    def captured(self, row: Row, node: StoredNode, index: int) -> StoredMessage:
        content, metadata = self.content_of(row, node)
        return self._message(row, index, content, metadata)

    def _message(self, row: Row, index: int, content: bytes, metadata: Any) -> StoredMessage:
        self.time_ms = self.time_ms if row.time_ms is None else row.time_ms
        return StoredMessage(
            message_id=id_of(row.event_id),
            index=index,
            content=content,
            metadata=metadata,
            created_at=moment(self.time_ms),
            stored_at=None if row.stored_ms is None else moment(row.stored_ms),
            parent_id=None if row.parent is None else id_of(row.parent),
            rule_set=row.rule_set,
            event_id=EventId(row.event_id) if row.captured else None,
        )

    def content_of(self, row: Row, node: StoredNode) -> tuple[bytes, dict[str, Any]]:
        """(content, metadata) of a captured record on the wire."""
        text, kind, stamp = self._read(node)
        when = stamp or iso(moment(self.time_ms if node.time_ms is None else node.time_ms))
        raw = node.body if node.text is None else dump_json(node.text)
        content = object_text({
            "role": dump_json(node.role),
            "content": object_text({
                "message": dump_json(text),
                "event_type": dump_json(node.event_type),
                "timestamp": dump_json(when),
                "raw": raw or b"null",
            }),
        })  # fmt: skip
        metadata = {
            "source": self.root.agent,
            "session_id": self.root.session_id,
            "event_id": row.event_id.hex(),
            "file_path": node.source_path or None,
            "file_offset": node.start,
            "kind": kind or node.kind,
            "rule_set": node.rule_set,
        }
        return content, metadata

    def _read(self, node: StoredNode) -> tuple[str | None, str | None, str | None]:
        """Text, kind and time by the reader; nothing where there is no redactor to hand it over."""
        if self.redactor is None or self.root.agent is None:
            return None, None, None
        from ultracontext.store.beginning import remask, spec_of

        if self.reader is None:
            spec = spec_of(self.root.agent)
            if spec is None:
                return None, None, None
            self.reader = spec.reader(self.root.session_id or self.root.context_id)
        record = remask(node, self.root.agent, self.redactor)
        try:
            found = self.reader.feed(record, message_id(node.event_id))
        except Exception:  # noqa: BLE001  (a reader's bug must not hide the record)
            return None, None, None
        texts = "\n\n".join(m.text for m in found if m.text)
        return texts, (found[0].kind if found else None), (found[0].timestamp if found else None)
