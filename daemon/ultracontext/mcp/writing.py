"""The tools that write, into our own store alone; a note is masked before it is stored."""

from __future__ import annotations

from typing import Any

from ultracontext.errors import WriteRefusedError
from ultracontext.mcp import arguments as a
from ultracontext.mcp.budget import clean, dumps
from ultracontext.mcp.library import Library
from ultracontext.store.contexts import Fork, NewMessage
from ultracontext.wire import render
from ultracontext.wire.masking import masked

Answer = dict[str, Any]


def fork_context(library: Library, wanted: a.ForkContext) -> Answer:
    """The fork is of the project of its source."""
    item = library.get(wanted.context_id)
    editing = _editing(library)
    origin = Fork(
        source=item.context_id,
        version=None if wanted.version < 0 else wanted.version,
        at=None if wanted.at < 0 else wanted.at,
    )
    metadata: dict[str, str] = {"forked_from": item.context_id}
    if item.project_path:
        metadata["project_path"] = item.project_path
    if item.title:
        metadata["title"] = item.title
    with editing() as space:
        made = space.create(origin=origin, metadata=metadata, now=library.desk.now())
    library.read.append(item.context_id)
    return {"id": made.context_id, "from": item.context_id}


def append_note(library: Library, wanted: a.AppendNote) -> Answer:
    item = library.get(wanted.context_id)
    editing = _editing(library)
    redactor = library.desk.redactor()
    content = masked(redactor, {"role": "user", "content": clean(wanted.text)})
    note = NewMessage(
        content=render(content), metadata={"note": True, "by": "mcp"}, rule_set=redactor.rule_set
    )
    with editing() as space:
        made = space.append_messages(item.context_id, [note], now=library.desk.now())
    library.read.append(item.context_id)
    return {
        "id": item.context_id,
        "version": made.version,
        "message_id": made.messages[0].message.message_id,
    }


def switch_session(library: Library, wanted: a.SwitchSession) -> Answer:
    item = library.get(wanted.session)
    library.row(item)
    if library.desk.switch is None:
        raise WriteRefusedError("switch_session is off", hint="Set mcp.allow_switch = true")
    library.read.append(item.context_id)
    done = library.desk.switch(item.context_id, wanted.to)
    text = dumps(done)
    return {"switched": done if len(text) < 2000 else {"command": done.get("command")}}


def _editing(library: Library) -> Any:
    if library.desk.editing is None:
        raise WriteRefusedError("this server only reads", hint="Use a key that may write")
    return library.desk.editing
