"""A server on a kernel's stack that is flooded: 20 kB to everybody at port 80, at port 81 octets
without end; over Multipath TCP where the argument says `mptcp`.
`crates/scenario/examples/attacks_live.rs` starts it."""

import socket
import sys
import threading

SHORT = 20_000
PIECE = bytes(1 << 16)


def serve(connection: socket.socket, whole: bool) -> None:
    with connection:
        try:
            while not whole:
                connection.sendall(PIECE)
            connection.sendall(bytes(SHORT))
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(len(PIECE)):
                pass
        except OSError:
            pass  # the peer has gone


def listen(port: int, whole: bool) -> None:
    protocol = socket.IPPROTO_MPTCP if sys.argv[1:] == ["mptcp"] else socket.IPPROTO_TCP
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("0.0.0.0", port))
        server.listen(128)
        while True:
            connection, _ = server.accept()
            threading.Thread(target=serve, args=(connection, whole), daemon=True).start()


threading.Thread(target=listen, args=(80, True), daemon=True).start()
listen(81, False)
