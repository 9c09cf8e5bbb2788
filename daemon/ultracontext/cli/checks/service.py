"""The login service, the key of the remote, and the remote itself."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

from ultracontext.cli.checks.finding import ERROR, INFO, WARNING, Finding
from ultracontext.cli.workspace import Workspace

REACH_SECONDS = 3.0
PORTS = {"https": 443, "http": 80, "postgresql": 5432, "postgres": 5432}


def installed(place: Workspace) -> Iterator[Finding]:
    from ultracontext.service import chosen_service

    service = chosen_service(place.paths, place.env, place.home)
    state = service.state()
    if not state.installed:
        yield Finding(
            code="service-missing",
            level=INFO,
            message="the daemon does not start when you log in",
            repair="Run `ultracontext service install`",
        )
        return
    if not state.current:
        yield Finding(
            code="service-outdated",
            level=WARNING,
            message="the login service was written for another version, place or environment",
            repair="Run `ultracontext service install`",
            fix=lambda: _install(place),
        )
    if "exit-code" in state.detail or "start-limit-hit" in state.detail:
        yield Finding(
            code="service-failed",
            level=ERROR,
            message=f"the login service does not run: {state.detail}",
            repair="`ultracontext service logs` says why; then `ultracontext service restart`,"
            " which leaves out the hardening by mounts where that is what is in the way",
            fix=lambda: _soften(place),
        )
    elif service.kind == "systemd" and not state.running:
        yield Finding(
            code="service-stopped",
            level=WARNING,
            message=f"the login service is installed and does not run ({state.detail})",
            repair="Run `ultracontext service restart`",
        )


def _install(place: Workspace) -> None:
    from ultracontext.cli.commands.service import install_service

    install_service(place, linger=None)


def _soften(place: Workspace) -> None:
    from ultracontext.service import chosen_service

    service = chosen_service(place.paths, place.env, place.home)
    service.soften()
    service.restart()


def key(place: Workspace) -> Iterator[Finding]:
    """Where the key of the remote is, when there is a remote that wants one."""
    from ultracontext.service.credentials import Credentials

    url = place.settings.remote.url
    held = Credentials(place.paths, place.env)
    if held.keyring_problem is not None:
        yield Finding(
            code="keyring",
            level=INFO,
            message=f"the keyring cannot be used here: {held.keyring_problem}",
            repair="Nothing to do: `ultracontext login` keeps the key in a file of mode 0600",
        )
    if url.startswith("http") and held.load(url) is None:
        yield Finding(
            code="key-missing",
            level=ERROR,
            message="remote.url names a server, and there is no key for it",
            repair="Run `ultracontext login`",
        )


def remote(place: Workspace) -> Iterator[Finding]:
    """Whether anything listens there; no word is sent."""
    parts = urlsplit(place.settings.remote.url)
    if not parts.hostname:
        return
    port = parts.port or PORTS.get(parts.scheme, 443)
    try:
        socket.create_connection((parts.hostname, port), REACH_SECONDS).close()
    except OSError as error:
        yield Finding(
            code="remote-unreachable",
            level=WARNING,
            message=f"{parts.hostname}:{port} cannot be reached:"
            f" {error.strerror or type(error).__name__}",
            repair="Check the network and remote.url; capture goes on without it",
        )
