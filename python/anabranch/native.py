"""The native module, and the one guard around calls into it.

Whatever the core raises reaches users as one of the family in `anabranch.errors`: calls stand
inside `with guarded():`, and tests/test_imports.py checks that all of them do. What a person waits
for at a terminal runs inside `interruptible`, so that Ctrl-C is heard while the core computes.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import platform
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from anabranch.errors import AlgorithmError, AnabranchError, InputError, RunError, StuckError

Result = TypeVar("Result")

LINUX_ONLY = {
    "enter_user_namespace",
    "kernel_algorithms",
    "kernel_load",
    "kernel_status",
    "kernel_unload",
    "live",
}
"""What the native module has on Linux alone."""


@functools.cache
def _loaded() -> ModuleType:
    """The native module, or a `RunError` that says how to build it."""
    try:
        return importlib.import_module("anabranch._core")
    except ImportError as error:
        raise RunError(f"the native module is not built ({error}); run `make setup`") from None


class _Core:
    """The native module, imported with the first use of something in it: `anabranch --help`
    answers even from a source tree that was not built."""

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(_loaded(), name)
        except AttributeError:
            if name not in LINUX_ONLY:
                raise
            raise RunError(
                f"runs on real packets need Linux, and this is {platform.system()}; everything in"
                " virtual time works here"
            ) from None


if TYPE_CHECKING:
    import anabranch._core as core
else:
    core = _Core()


@functools.cache
def code_fingerprint() -> str:
    """Names the code that computes results: a hash of the native module.

    A stored result is reused only under the same fingerprint: a run is a
    function of (scenario, seed, code).
    """
    file = _loaded().__file__
    if file is None:
        raise RunError("the native module has no file")
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


@contextmanager
def guarded(file: str | Path | None = None) -> Iterator[None]:
    """Maps what the core raises to our family of errors; Ctrl-C passes through.

    With `file`, messages begin with it, and a `ValueError` is about its content: the input is
    wrong. Without, a `ValueError` that is no `InputError` means that the run failed.
    """
    about = "the run failed" if file is None else str(file)
    try:
        yield
    except AnabranchError:
        raise
    except core.InputError as error:
        cargo = importlib.import_module("anabranch.cargo")  # for libraries that are not there
        raise InputError(cargo.explained(str(error))) from None
    except core.AlgorithmError as error:
        message, facts = error.args
        raise AlgorithmError(message, **facts) from error.__cause__
    except ValueError as error:
        kind = RunError if file is None else InputError
        raise kind(f"{about}: {_said(error)}") from None
    except (OSError, RuntimeError, MemoryError) as error:
        raise RunError(f"{about}: {_said(error)}") from None
    except BaseException as error:
        # A broken invariant of the core: PyO3 makes its panics a BaseException.
        if type(error).__name__ == "PanicException":
            raise RunError(f"{about}: broken invariant: {error}") from None
        raise


def _said(error: Exception) -> str:
    """The message; the name of an exception that has none, such as `MemoryError`."""
    return str(error) or type(error).__name__


def interruptible(work: Callable[[], Result]) -> Result:
    """Runs `work` in a thread, so that Ctrl-C is heard while the core computes.

    Raises `StuckError` where a call of an algorithm waits outside of Python.
    """
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def body() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # handed to the caller's thread
            failure.append(error)

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)
        if core.limits_passed() >= 2:
            raise StuckError(
                "a call of an algorithm has not returned within twice the limit of"
                " ANABRANCH_CALL_LIMIT, and waits where it cannot be stopped"
            )
    if failure:
        raise failure[0]
    return outcome[0]


__all__ = ["code_fingerprint", "core", "guarded", "interruptible"]
