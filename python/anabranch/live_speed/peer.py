"""The kernel's side of a transfer, as a program of its own:

    peer.py sink PORT
    peer.py source ADDRESS PORT MEGABYTES

The source connects from the same port, sends by CUBIC, and waits for the peer's end. Both say
how many seconds it took.
"""

import contextlib
import socket
import sys
import time

BLOCK = 1 << 16


def sink(port: int) -> None:
    """Reads all that one connection brings."""
    listener = socket.create_server(("0.0.0.0", port))
    stream, _ = listener.accept()
    start = time.monotonic()
    _drain(stream)
    print(time.monotonic() - start)


def source(address: str, port: int, megabytes: int) -> None:
    """Sends zeros as soon as somebody listens."""
    stream = _connected(address, port)
    block, left = bytes(BLOCK), megabytes * 1_000_000
    start = time.monotonic()
    while left > 0:
        stream.sendall(block[: min(left, BLOCK)])
        left -= BLOCK
    stream.shutdown(socket.SHUT_WR)
    _drain(stream)
    print(time.monotonic() - start)


def _connected(address: str, port: int) -> socket.socket:
    for _ in range(100):
        stream = socket.socket()
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):  # root alone may choose what the machine has not allowed
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        stream.bind(("0.0.0.0", port))
        try:
            stream.connect((address, port))
        except OSError:
            stream.close()
            time.sleep(0.02)
        else:
            return stream
    raise SystemExit("nobody listens")


def _drain(stream: socket.socket) -> None:
    buffer = bytearray(BLOCK)
    while stream.recv_into(buffer):
        pass


if __name__ == "__main__":
    if sys.argv[1] == "sink":
        sink(int(sys.argv[2]))
    else:
        source(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
