"""`serve`: the HTTP server over a store."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ultracontext import logs
from ultracontext.cli import output
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.stores import open_for_writing, served
from ultracontext.cli.workspace import Workspace, workspace

if TYPE_CHECKING:
    from ultracontext.api import Options
    from ultracontext.api.running import Running
    from ultracontext.redaction import Redactor
    from ultracontext.store import Store

app = command_app()

BEYOND = (
    "Listening on {host}: everyone who reaches this machine can try keys, and without TLS in front"
    " of it keys and messages cross the network in clear."
)


@app.command()
def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; anything but loopback is open to others.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="8787 unless set; 0 takes any free one.")
    ] = None,
    store: Annotated[
        str | None, typer.Option(metavar="URL", help="sqlite:///path or postgresql://…")
    ] = None,
    rate_limit: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Requests a second of one key; 0: none.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A name clients may call it by.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON when it is ready.")] = False,
) -> int:
    """Serves contexts over HTTP until Ctrl-C. ULTRACONTEXT_ADMIN_KEY opens /v1/keys."""
    place = workspace()
    settings = place.settings
    options = _options(place, host, port, rate_limit, allow_host)
    url = served(place, settings, store)
    opened = open_for_writing(place, url)
    place.paths.ensure()
    terminal = sys.stderr if output.is_terminal(sys.stderr) else None
    file = place.paths.logs_dir / "serve.log"
    logs.configure(level=settings.log.level, file=file, terminal=terminal)
    try:
        _warn(options, opened, url)
        asyncio.run(_serve(place, options, opened, url, as_json=json))
    finally:
        opened.close()
    return 0


def _options(
    place: Workspace, host: str, port: int | None, rate: int | None, names: list[str] | None
) -> Options:
    from ultracontext.api import Options

    if not host.strip():
        raise UsageError("--host is empty", hint="0.0.0.0 listens everywhere")
    section = place.settings.serve
    limit = section.rate_limit if rate is None else rate
    options = Options(
        host=host,
        port=section.port if port is None else port,
        allowed_hosts=(*section.allowed_hosts, *(names or ())),
        admin_key=place.env.get("ULTRACONTEXT_ADMIN_KEY") or None,
        redact_on_ingest=section.redact_on_ingest,
    )
    return options if limit < 0 else replace(options, rate=limit)


def _warn(options: Options, store: Store, url: str | Path) -> None:
    from ultracontext.store import LOCAL_SPACE
    from ultracontext.store.keys import open_keys

    if options.on_loopback:
        return
    output.note(BEYOND.format(host=options.host))
    keys = open_keys(store, url)
    try:
        local = [key.prefix for key in keys.rows(LOCAL_SPACE) if key.revoked_at is None]
    finally:
        keys.close()
    if local:
        output.note(
            f"{len(local)} key{'s' * (len(local) > 1)} open this machine's own sessions:"
            f" {', '.join(local)}. `ultracontext keys revoke` takes them back."
        )


async def _serve(
    place: Workspace, options: Options, store: Store, url: str | Path, *, as_json: bool
) -> None:
    from ultracontext.api import AccessLog, Service
    from ultracontext.api.running import Running, recorded
    from ultracontext.api.server import serving, stop_signal
    from ultracontext.cli.mcpdesk import RemoteTools
    from ultracontext.store.keys import open_keys

    masking = _Masking(place)
    service = Service(
        store, open_keys(store, url), options, redactor=masking,
        tools=RemoteTools(place, store, masking, local=url == place.paths.store_file),
    )  # fmt: skip
    access = AccessLog(place.paths.logs_dir / "access.log")
    async with serving(service, access) as port:
        me = Running(pid=os.getpid(), host=options.host, port=port, loopback=options.on_loopback)
        with recorded(place.paths.run_dir, me):
            _say(me, as_json=as_json)
            await stop_signal()
            if not as_json:
                output.note("Stopping: finishing what was accepted.")
    access.close()


class _Masking:
    """Loads the redactor at the first need; several threads may ask."""

    def __init__(self, place: Workspace) -> None:
        from threading import Lock

        self._place = place
        self._lock = Lock()
        self._redactor: Redactor | None = None

    def __call__(self) -> Redactor:
        from ultracontext.redaction.opening import masking_redactor

        with self._lock:
            if self._redactor is None:
                self._redactor = masking_redactor(self._place.paths, self._place.settings)
            return self._redactor


def _say(me: Running, *, as_json: bool) -> None:
    host = f"[{me.host}]" if ":" in me.host else me.host
    url = f"http://{host}:{me.port}"
    if as_json:
        output.write_json({"url": url, "host": me.host, "port": me.port, "pid": me.pid})
        sys.stdout.flush()
        return
    output.note(f"Serving on {url} (/docs describes it). Ctrl-C stops it.")
    output.note("`ultracontext keys create NAME` makes a key.")
