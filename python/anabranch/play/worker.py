"""The process that runs scenarios: `python -m anabranch.play.worker`.

Requests and answers are JSON, each behind its length in four octets, on standard input and output.
The process that reads the answers ends this one when a run takes too long; the limits of memory
are set here. When standard input ends, so does the process, whatever it is doing.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import queue
import signal
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO

from anabranch.play.document import Opened, Table
from anabranch.play.running import answer

LENGTH = struct.Struct(">I")


def main() -> None:
    """Answers requests until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's
    requests, answers = _channel()
    incoming: queue.Queue[Table] = queue.Queue()
    threading.Thread(target=_listen, args=(requests, incoming), daemon=True).start()
    first = incoming.get()
    file = Opened(**first["file"]) if first.get("file") else None
    # What is imported at its first use is loaded before the first request.
    answer({"scenario": "lab:dumbbell", "changes": {"duration": 0.1}, "want": "run"}, None)
    _limit_memory(int(first["memory"]))
    _write(answers, {"ready": True})
    while True:
        request = incoming.get()
        try:
            found = answer(request, file)
        except MemoryError:
            found = _failed(422, "The run needs more memory than a run may have here.")
        except Exception as error:  # the page shows one line, never a traceback
            found = _failed(500, f"broken invariant: {type(error).__name__}: {error}")
        _write(answers, found)


def _failed(status: int, message: str) -> Table:
    return {"status": status, "errors": [{"control": "", "message": message}]}


def _channel() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for the protocol alone: what anything prints goes to standard
    error."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return requests, answers


def _listen(requests: BinaryIO, incoming: queue.Queue[Table]) -> None:
    while (head := requests.read(LENGTH.size)) and len(head) == LENGTH.size:
        incoming.put(json.loads(requests.read(LENGTH.unpack(head)[0])))
    os._exit(0)


def _write(answers: BinaryIO, found: Table) -> None:
    started = time.perf_counter()
    status = found.pop("status", 200)
    text = json.dumps(found, default=_plain, allow_nan=False).encode()
    took = (time.perf_counter() - started) * 1e3
    head = json.dumps({"status": status, "json_ms": took}).encode()
    answers.write(LENGTH.pack(len(head)) + head + LENGTH.pack(len(text)) + text)
    answers.flush()


def _plain(value: Any) -> Any:
    return value.tolist()


def _limit_memory(octets: int) -> None:
    """Bounds the address space beyond what is in use, where the system can do that."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        resource: Any = importlib.import_module("resource")
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        most = pages * resource.getpagesize() + octets
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    main()
