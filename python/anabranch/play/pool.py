"""Workers that run scenarios: a newer request of a slot ends the run of an older one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from dataclasses import dataclass, field

from anabranch.play.document import Opened, Table
from anabranch.play.limits import MEMORY, WALL_S
from anabranch.play.worker import LENGTH

MOST_WORKERS = 4
"""Processes at a time, one that waits for work included."""
STARTING_S = 60.0
"""Longest time that a worker may take to load."""


class Replaced(Exception):
    """A newer request of the same slot has come."""


@dataclass(frozen=True)
class Answer:
    """The answer of a worker to a request."""

    status: int
    json_ms: float
    """Time that it took to write it."""
    body: bytes


def failed(status: int, message: str) -> Answer:
    """An answer that says why there is none."""
    body = json.dumps({"errors": [{"control": "", "message": message}]}).encode()
    return Answer(status, 0.0, body)


def _sent(file: Opened | None) -> Table | None:
    """The scenario that was named as a worker gets it; one of the library it builds by its name."""
    if file is None or file.entry is not None:
        return None
    return {"name": file.name, "file": file.file, "text": file.text}


class Worker:
    """One process; it answers one request at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def started(cls, file: Opened | None, memory: int = MEMORY) -> Worker:
        """A process that has loaded what it needs."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "anabranch.play.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        worker = cls(process)
        worker._send({"file": _sent(file), "memory": memory})
        try:
            await asyncio.wait_for(worker._answer(), STARTING_S)
        except BaseException:
            await worker.end()
            raise
        return worker

    async def ask(self, request: Table) -> Answer:
        """The answer; after an error or a cancellation the worker is of no use."""
        self._send(request)
        return await self._answer()

    def _send(self, request: Table) -> None:
        text = json.dumps(request).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(LENGTH.pack(len(text)) + text)

    async def _answer(self) -> Answer:
        head = json.loads(await self._part())
        return Answer(head["status"], head["json_ms"], await self._part())

    async def _part(self) -> bytes:
        assert self._process.stdout is not None
        (length,) = LENGTH.unpack(await self._process.stdout.readexactly(LENGTH.size))
        return await self._process.stdout.readexactly(length)

    async def end(self) -> None:
        """Ends the process, whatever it is doing, and waits until it is gone."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()


@dataclass
class Pool:
    """The worker processes of one server."""

    file: Opened | None
    wall_s: float = WALL_S
    memory: int = MEMORY
    _idle: list[Worker] = field(default_factory=list)
    _all: set[Worker] = field(default_factory=set)
    _running: dict[str, asyncio.Task[Answer]] = field(default_factory=dict)
    _room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_WORKERS - 1))
    _changes: set[asyncio.Task[None]] = field(default_factory=set)
    """Workers that are being ended, and others that load in their places."""
    _starting: int = 0

    async def open(self, count: int = 2) -> None:
        """Starts the first workers."""
        self._idle = list(await asyncio.gather(*(self._start() for _ in range(count))))

    async def close(self) -> None:
        """Ends all workers of the pool."""
        tasks = [*self._running.values(), *self._changes]
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*self._changes, return_exceptions=True)
        await asyncio.gather(*(worker.end() for worker in self._all))

    async def ask(self, slot: str, request: Table) -> Answer:
        """The answer to a request; `Replaced` if a newer one of the same slot came before it."""
        older = self._running.get(slot)
        if older is not None:
            older.cancel()
        task = asyncio.create_task(self._asked(request))
        self._running[slot] = task
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise Replaced from None
            task.cancel()  # who asked has gone
            raise
        finally:
            if self._running.get(slot) is task:
                del self._running[slot]

    async def _asked(self, request: Table) -> Answer:
        async with self._room:
            try:
                worker = self._idle.pop() if self._idle else await self._start()
            except (OSError, EOFError, TimeoutError) as error:
                return failed(500, f"No process for the run could be started: {error}")
            try:
                answer = await asyncio.wait_for(worker.ask(request), self.wall_s)
            except TimeoutError:
                self._lose(worker)
                return failed(
                    422,
                    f"The run was ended after {self.wall_s:g} s: take a shorter duration, lower"
                    " rates or fewer flows.",
                )
            except (asyncio.IncompleteReadError, ConnectionError):
                self._lose(worker)
                return failed(422, "The run needs more memory than a run may have here.")
            except BaseException:
                self._lose(worker)
                raise
            self._idle.append(worker)
            return answer

    async def _start(self) -> Worker:
        self._starting += 1
        try:
            worker = await Worker.started(self.file, self.memory)
        finally:
            self._starting -= 1
        self._all.add(worker)
        return worker

    def _lose(self, worker: Worker) -> None:
        """Ends a worker and has another one load, so that the next request finds it ready."""
        self._all.discard(worker)
        change = asyncio.create_task(self._change(worker))
        self._changes.add(change)
        change.add_done_callback(self._changes.discard)

    async def _change(self, worker: Worker) -> None:
        await worker.end()
        if len(self._all) + self._starting < MOST_WORKERS - 1:
            self._idle.append(await self._start())


__all__ = ["Answer", "Pool", "Replaced", "Worker", "failed"]
