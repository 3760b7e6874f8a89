"""The command line in processes that are forked of one which has imported it.

A new interpreter spends up to two seconds of a processor on imports, of which many tests need
nothing but a line that says what is wrong. A fork has its own descriptors, environment, folder and
status, as a process that a user starts.
"""

from __future__ import annotations

import gc
import importlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any, NoReturn

from anabranch import cli


class Forked:
    """Runs commands one after the other."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(
        self, *arguments: str | Path, timeout: float = 240
    ) -> subprocess.CompletedProcess[str]:
        """Like `subprocess.run`; what takes longer is killed by SIGALRM."""
        assert self._server.stdin is not None and self._server.stdout is not None
        words = [*map(str, arguments)]
        with tempfile.TemporaryDirectory() as folder:
            asked = {
                "arguments": words,
                "folder": str(Path.cwd()),
                "environment": dict(os.environ),
                "streams": [os.devnull, f"{folder}/out", f"{folder}/err"],
                "timeout": math.ceil(timeout),
            }
            self._server.stdin.write(json.dumps(asked) + "\n")
            self._server.stdin.flush()
            status = int(self._server.stdout.readline())
            out, err = (Path(folder, name).read_text("utf-8") for name in ("out", "err"))
        return subprocess.CompletedProcess(["anabranch", *words], status, out, err)

    def close(self) -> None:
        """Ends the process of which the others are forked."""
        self._server.communicate()


def serve() -> None:
    """Answers each line of standard input, a command, with its status."""
    for name in cli.COMMANDS:
        importlib.import_module(f"anabranch.commands.{name}")
    gc.freeze()
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            _run(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(asked: dict[str, Any]) -> NoReturn:
    signal.alarm(asked["timeout"])
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    for number, name in enumerate(asked["streams"]):
        opened = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.path[0] = asked["folder"]  # as with `python -m`
    sys.argv = ["anabranch", *asked["arguments"]]
    status = 1
    try:
        cli.main()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    serve()
