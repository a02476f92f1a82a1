"""One exchange over HTTP with a deadline for all of it.

The timeout of a socket is for each of its operations, so a server that sends
a byte now and then could hold a caller for ever. Here every operation gets
what is left of the whole time. A connection is for one exchange: nothing is
ever sent again behind the caller's back because a kept connection was gone.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Answer:
    """Status, headers and the whole body."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


def exchange(
    host: str,
    port: int,
    tls: ssl.SSLContext | None,
    timeout: float,
    request: tuple[str, str, dict[str, str], bytes | None],
) -> Answer:
    """Raises OSError (TimeoutError among it) or http.client.HTTPException."""
    deadline = _Deadline(timeout)
    connection = _Connection(host, port, tls, deadline)
    method, path, headers, body = request
    try:
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())
    finally:
        connection.close()


class _Deadline:
    def __init__(self, timeout: float) -> None:
        self._end = time.monotonic() + timeout

    def left(self) -> float:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        return left


class _Connection(http.client.HTTPConnection):
    def __init__(
        self,
        host: str,
        port: int,
        tls: ssl.SSLContext | None,
        deadline: _Deadline,
    ) -> None:
        super().__init__(host, port)
        if tls is not None:
            # Of this object only: the Host header then leaves it out.
            self.default_port = http.client.HTTPS_PORT
        self._tls = tls
        self._deadline = deadline

    def connect(self) -> None:
        plain = _connect(self.host, self.port, self._deadline)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is None:
                stream: Any = plain
            else:
                plain.settimeout(self._deadline.left())
                stream = self._tls.wrap_socket(
                    plain, server_hostname=self.host
                )
        except BaseException:
            plain.close()
            raise
        self.sock = _TimedSocket(stream, self._deadline)


def _connect(host: str, port: int, deadline: _Deadline) -> socket.socket:
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    failure: OSError = OSError(f"{host} has no address")
    for place, (family, kind, proto, _, address) in enumerate(addresses):
        # One address that does not answer leaves time for the others.
        share = deadline.left() / (len(addresses) - place)
        sock = socket.socket(family, kind, proto)
        try:
            sock.settimeout(share)
            sock.connect(address)
            return sock
        except OSError as error:
            sock.close()
            failure = error
    raise failure


class _TimedSocket:
    """As much of a socket as http.client uses."""

    def __init__(self, sock: socket.socket, deadline: _Deadline) -> None:
        self._sock = sock
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        self._sock.settimeout(self._deadline.left())
        self._sock.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        # Keeps the socket open until it is closed itself.
        raw = self._sock.makefile(mode, buffering=0)
        return io.BufferedReader(_TimedReader(raw, self._sock, self._deadline))

    def close(self) -> None:
        self._sock.close()


class _TimedReader(io.RawIOBase):
    def __init__(
        self, raw: Any, sock: socket.socket, deadline: _Deadline
    ) -> None:
        super().__init__()
        self._raw = raw
        self._sock = sock
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(self._deadline.left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
