"""A server on a kernel's stack that is flooded: 20 kB to everybody at port 80, at port 81 octets
without end. `crates/scenario/examples/attacks_live.rs` starts it."""

import socket
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
    with socket.create_server(("0.0.0.0", port), backlog=128) as server:
        while True:
            connection, _ = server.accept()
            threading.Thread(target=serve, args=(connection, whole), daemon=True).start()


threading.Thread(target=listen, args=(80, True), daemon=True).start()
listen(81, False)
