"""One daemon a home: an flock(2) on `run/daemon.lock`, taken before anything else.

The kernel frees the lock when its holder ends, however it ends, so a lock is never stale; what the
file says of an earlier holder may be, and is then written over. The file is never removed: a new
file under the same name would be another lock.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ultracontext.errors import FatalError, WriteRefusedError
from ultracontext.runtime.process import is_alive, started_at

_MOST_BYTES = 4096


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds the lock, as the lock file says."""

    pid: int
    start: int | None = None
    """See `process.started_at`."""
    version: str = ""
    socket: str = ""
    """Where its control socket is."""
    once: bool = False
    """`daemon run --once`: it ends by itself and has no socket."""


class DaemonLock:
    """Holds the lock from `take` to `release`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def take(self, *, version: str, socket: str, once: bool) -> Holder | None:
        """Takes the lock, or raises WriteRefusedError naming the holder. Gives who died with it."""
        handle = self._open()
        try:
            _lock(handle, self._path)
            earlier = _parse(os.pread(handle, _MOST_BYTES, 0))
            own = os.getpid()
            me = Holder(pid=own, start=started_at(own), version=version, socket=socket, once=once)
            text = msgspec.json.encode(me) + b"\n"
            os.ftruncate(handle, 0)
            os.pwrite(handle, text, 0)
        except OSError as error:
            os.close(handle)
            raise self._failure(error) from error
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle
        return earlier

    def is_ours(self) -> bool:
        """Whether the file under the lock's name is still the one that we hold."""
        if self._handle is None:
            return False
        try:
            return os.path.samestat(os.fstat(self._handle), self._path.stat())
        except OSError:
            return False

    def release(self) -> None:
        """Frees the lock. The file stays, empty: nobody holds it."""
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        try:
            os.ftruncate(handle, 0)
        except OSError:
            pass  # a full disk must not keep us from leaving; closing frees the lock
        finally:
            os.close(handle)

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            return os.open(self._path, flags, 0o600)
        except OSError as error:
            raise self._failure(error) from error

    def _failure(self, error: OSError) -> FatalError:
        reason = error.strerror or type(error).__name__
        return FatalError(
            f"cannot take the lock {self._path}: {reason}",
            code="lock",
            hint="Put ULTRACONTEXT_HOME on a local disk that this user can write to",
        )


@contextmanager
def holding(lock: DaemonLock, *, version: str, socket: str, once: bool) -> Iterator[Holder | None]:
    """The lock for the length of a `with`."""
    earlier = lock.take(version=version, socket=socket, once=once)
    try:
        yield earlier
    finally:
        lock.release()


def running(path: Path) -> Holder | None:
    """The living holder of a lock, or None. Takes nothing that another process could trip over."""
    holder = read_holder(path)
    if holder is None or not is_alive(holder.pid, holder.start):
        return None
    return holder if _is_held(path) else None


def read_holder(path: Path) -> Holder | None:
    """What the lock file says, true or not. Raises PermissionError for another user's."""
    try:
        with path.open("rb") as file:
            return _parse(file.read(_MOST_BYTES))
    except PermissionError:
        raise
    except OSError:
        return None


def _is_held(path: Path) -> bool:
    """By a shared lock, held for no time at all; a daemon that starts just then tries again."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.EWOULDBLOCK, errno.EACCES)
    finally:
        os.close(handle)
    return False


def _lock(handle: int, path: Path) -> None:
    from time import sleep

    for attempt in range(3):  # `_is_held` of another process may be in the way for a moment
        if attempt:
            sleep(0.02)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
        else:
            return
    raise _refusal(read_holder(path))


def _parse(text: bytes) -> Holder | None:
    try:
        return msgspec.json.decode(text, type=Holder)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _refusal(holder: Holder | None) -> WriteRefusedError:
    if holder is None:
        return WriteRefusedError(
            "another daemon is just starting or stopping",
            code="locked",
            hint="Try again in a moment",
        )
    if holder.once:
        return WriteRefusedError(
            f"`daemon run --once` is at work (pid {holder.pid})",
            code="locked",
            hint="Wait for it to end",
        )
    return WriteRefusedError(
        f"a daemon is running already (pid {holder.pid})",
        code="locked",
        hint="It captures what this would; stop it by `ultracontext daemon stop`",
    )
