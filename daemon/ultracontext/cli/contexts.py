"""What the commands of `context` share: client, ids in short, values as a person writes them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ultracontext.cli import output
from ultracontext.cli.group import UsageError
from ultracontext.cli.stores import SERVERS, chosen, open_for_writing, space_of
from ultracontext.cli.workspace import Workspace
from ultracontext.errors import NotFoundError, StoreError, TransportError, WriteRefusedError

if TYPE_CHECKING:
    from ultracontext.sdk import UltraContext
    from ultracontext.store import SpaceStore

WHOLE_ID = re.compile(r"ctx_[0-9a-f]{24}", re.ASCII)
SHORTEST = 4
NAMED = 5
EXIT_CODES = {404: ("not-found", 1), 409: ("conflict", 1), 400: ("request", 2)}


class Contexts:
    """The client of the chosen store, and how to find a context by a short name."""

    def __init__(self, client: UltraContext, space: SpaceStore | None) -> None:
        self.client = client
        self._space = space

    def id(self, name: str) -> str:
        """A whole id; or of the local store a session id, or a beginning of either."""
        if WHOLE_ID.fullmatch(name):
            return name
        if self._space is not None:
            try:
                return str(self._space.find(name).context_id)
            except NotFoundError:
                pass  # made by a program, not captured
        found = [str(row["id"]) for row in self.client.contexts() if _is_named(row, name)]
        if len(found) == 1:
            return found[0]
        if not found:
            raise NotFoundError(
                f"no context {output.one_line(name)}", hint="Give its whole id, ctx_…"
            )
        raise StoreError(
            f"{output.one_line(name)} names {len(found)} contexts: {', '.join(found[:NAMED])}",
            hint="Give more of the id", code="ambiguous",
        )  # fmt: skip


def _is_named(row: Any, name: str) -> bool:
    if len(name) < SHORTEST:
        return False
    metadata = row["metadata"]
    session = metadata.get("session_id") if isinstance(metadata, dict) else None
    return row["id"].startswith(name) or (isinstance(session, str) and session.startswith(name))


@contextmanager
def opened(place: Workspace, store: str | None, *, redact: bool = False) -> Iterator[Contexts]:
    """The chosen store, local or a server. Refusals of it become errors of this program."""
    from ultracontext.sdk import UltraContext
    from ultracontext.sdk.local import LocalLink

    url = chosen(place, store)
    if str(url).startswith(SERVERS):
        client = UltraContext(place.settings.api_key, base_url=str(url), redact=redact)
        space = None
    else:
        link = LocalLink(open_for_writing(place, url), space_of(url))
        client = UltraContext(transport=link, redact=redact)
        space = link.space if link.captures else None
    try:
        with translated(str(url)):
            yield Contexts(client, space)
    finally:
        client.close()


@contextmanager
def translated(url: str) -> Iterator[None]:
    """Errors of the SDK as those of this program."""
    import httpx

    from ultracontext.sdk import UltraContextHttpError

    try:
        yield
    except UltraContextHttpError as error:
        raise _told(error) from error
    except httpx.HTTPError as error:
        raise TransportError(
            f"cannot reach {output.one_line(url)} ({type(error).__name__})",
            hint="Check the URL, and that the server runs",
        ) from error


def _told(error: Any) -> StoreError:
    """The server's own words, and the next step."""
    try:
        text = str(json.loads(error.body)["error"])
    except (ValueError, KeyError, TypeError):
        text = f"the server answered {error.status}"
    hints = {
        401: "Set ULTRACONTEXT_API_KEY", 403: "Use a key of another role",
        404: "`ultracontext context log ID` shows its versions", 409: "Read it and try again",
    }  # fmt: skip
    code, exit_code = EXIT_CODES.get(error.status, (f"http-{error.status}", 1))
    told = StoreError(output.one_line(text), hint=hints.get(error.status, ""), code=code)
    told.exit_code = exit_code
    return told


def json_value(text: str, what: str) -> Any:
    """The value of a JSON text; `-` reads stdin, `@FILE` a file."""
    from ultracontext.wire import parse

    try:
        return parse(_source(text).encode("utf-8", "surrogateescape"))
    except ValueError as error:
        raise UsageError(f"{what} is no JSON", hint='Write it like {"key": "value"}') from error


def _source(text: str) -> str:
    if text == "-":
        return sys.stdin.read()
    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise UsageError(f"cannot read {output.one_line(text[1:])}: {reason}") from error


def json_object(text: str | None, what: str) -> dict[str, Any] | None:
    if text is None:
        return None
    value = json_value(text, what)
    if not isinstance(value, dict):
        raise UsageError(f"{what} is no JSON object", hint='Write it like {"key": "value"}')
    return value


def selector(name: str) -> str | int:
    """A message's id or its index."""
    return int(name) if re.fullmatch(r"-?[0-9]{1,15}", name, re.ASCII) else name


def confirm(ident: str, what: str, *, yes: bool) -> None:
    """Has the id typed again on a terminal; elsewhere --yes is needed."""
    if yes:
        return
    if not output.is_terminal(sys.stdin):
        raise WriteRefusedError(
            f"{what} was not confirmed", hint="Give --yes if you mean it", code="unconfirmed"
        )
    output.note(f"{what}. This cannot be undone. Type {ident} to go on:")
    if sys.stdin.readline().strip() != ident:
        raise WriteRefusedError("it was not confirmed, nothing was changed", code="unconfirmed")
