"""Who is at the other end of a unix socket."""

from __future__ import annotations

import socket
import struct
import sys


def peer_uid(connection: socket.socket) -> int | None:
    """The user id of the peer, told by the kernel; None where it cannot be told."""
    try:
        if sys.platform == "linux":
            found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            return int(struct.unpack("3i", found)[1])
        if sys.platform == "darwin":
            found = connection.getsockopt(0, 1, 76)  # SOL_LOCAL, LOCAL_PEERCRED: struct xucred
            return int(struct.unpack_from("II", found)[1])
    except OSError:
        return None
    return None
