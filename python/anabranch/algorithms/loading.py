"""Finds the class that the name of a user-defined algorithm means.

`FILE.py:CLASS` is a class in a file: relative to the folder of the scenario that
names it, or else to the working directory. `MODULE:CLASS` is one in a module that
can be imported, or that the running program is (`__main__`).
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from anabranch.algorithms import limits
from anabranch.algorithms.seams import SEAMS
from anabranch.errors import InputError
from anabranch.native import core
from anabranch.nearest import nearest

DIGITS = 16
"""Of a SHA-256 digest, in hexadecimal."""


@dataclass(frozen=True)
class Found:
    """A class of the user's that fits a seam, with its source."""

    name: str
    """The name under which it is found from the working directory."""
    kind: type
    source: str
    """The digest of its source."""
    hooks: list[str]
    """What it defines itself."""
    unlimited: bool
    """Its calls may take as long as they like."""


def load(name: str, seam: str | None = None) -> type:
    """The class called `name`: `FILE.py:CLASS` or `MODULE:CLASS`.

    It must have one of the base classes of `anabranch.algorithms`, that of
    `seam` if given (`window`, ...). What is wrong raises `InputError`.
    """
    try:
        kind, _name, _source = _class(name, "")
        fits = [
            each for each in SEAMS if seam in (None, each) and issubclass(kind, SEAMS[each].base)
        ]
        if not fits:
            bases = [each.base.__name__ for key, each in SEAMS.items() if seam in (None, key)]
            raise ValueError(f"a subclass of {' or '.join(bases)} of anabranch.algorithms")
        find(fits[0], name, "")
    except ValueError as error:
        raise InputError.about("algorithm", "name", name, str(error)) from error
    return kind


def name_of(kind: type) -> str:
    """The name by which scenarios can say this class."""
    if "<locals>" in kind.__qualname__:
        allowed = "a class at the top level of a module, which other processes find, too"
        raise InputError.about("algorithm", "class", kind.__qualname__, allowed)
    return f"{kind.__module__}:{kind.__qualname__}"


def find(seam: str, name: str, scenario: str) -> Found:
    """The class called `name` for a seam, named in the file `scenario`.

    Raises `ValueError` with what is allowed instead.
    """
    kind, name, source = _class(name, scenario)
    base, required = SEAMS[seam].base, SEAMS[seam].required
    if not issubclass(kind, base):
        raise ValueError(f"a subclass of anabranch.algorithms.{base.__name__}")
    own = [hook for hook in dir(base) if not hook.startswith("_") and hook != "needs"]
    own = [hook for hook in own if getattr(kind, hook, None) is not getattr(base, hook)]
    missing = [hook for hook in required if hook not in own]
    if missing:
        raise ValueError(f"a class with {' and '.join(missing)}")
    return Found(name, kind, source, own, bool(getattr(kind, "unlimited", False)))


def apply_limit() -> None:
    """Sets the limit for calls; raises `ValueError` where the environment has none that can be."""
    limits.apply()


def check_options(kind: type, options: dict[str, Any]) -> None:
    """Raises `ValueError` unless objects of the class can be made with these options."""
    made: Any = inspect.getattr_static(kind, "__init__", None)
    if not inspect.isfunction(made):  # none in Python between it and the native base
        parameters: list[inspect.Parameter] = []
    else:
        parameters = list(inspect.signature(made).parameters.values())[1:]
    names = [parameter.name for parameter in parameters]
    takes = f"options that its __init__ takes ({', '.join(names) or 'no options'})"
    try:
        inspect.Signature(parameters).bind(**options)
    except TypeError as error:
        for option in options:
            if option not in names:
                meant = nearest(option, names)
                hint = "" if meant is None else f"; did you mean `{meant}`?"
                raise ValueError(f"{takes}; there is no `{option}`{hint}") from None
        raise ValueError(f"{takes}; {error}") from None


def _class(name: str, scenario: str) -> tuple[type, str, str]:
    """The class, its name from the working directory, and the digest of its source."""
    place, _, attribute = name.rpartition(":")
    if not place or not attribute:
        raise ValueError("FILE.py:CLASS or MODULE:CLASS")
    if place.endswith(".py"):
        path = next((each for each in _places(place, scenario) if each.is_file()), None)
        if path is None:
            raise ValueError(f"a file that is there: there is no {place}")
        module, source = _from_file(path), _digest(path.read_bytes())
        name = f"{path.as_posix()}:{attribute}"
    else:
        module = _imported(place)
        source = _digest(_source(module, attribute))
    found: Any = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type):
        classes = [key for key, each in vars(module).items() if _is_own(each, module)]
        there = ", ".join(classes) or "no class of an algorithm"
        raise ValueError(f"a class of {place}, which has {there}")
    return found, name, source


def _is_own(each: object, module: ModuleType) -> bool:
    return (
        isinstance(each, type)
        and each.__module__ == module.__name__
        and any(issubclass(each, seam.base) for seam in SEAMS.values())
    )


def _places(place: str, scenario: str) -> list[Path]:
    path = Path(place)
    return [path] if path.is_absolute() else [Path(scenario).parent / path, path]


def _from_file(path: Path) -> ModuleType:
    """The module in a file; executed once for each state of the file."""
    digest = _digest(str(path.resolve()).encode() + b"\0" + path.read_bytes())
    name = f"anabranch_own_{path.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"a Python file, which {path} is not")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if _is_the_users(error):
            raise
        raise ValueError(f"a file that Python can import: {_told(error, path)}") from error
    return module


def _imported(name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise ValueError(
            f"FILE.py:CLASS or MODULE:CLASS: {name} ends not with .py, and is no module"
        )
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ValueError(f"a module that Python can import: there is no {error.name}") from error
    except BaseException as error:
        if _is_the_users(error):
            raise
        raise ValueError(f"a module that Python can import: {_told(error, None)}") from error


def _is_the_users(error: BaseException) -> bool:
    """The user stopped what went on, or its limit did: not the source that is read."""
    if isinstance(error, KeyboardInterrupt):
        return threading.current_thread() is threading.main_thread()
    return isinstance(error, core.CallTooLong)


def _told(error: BaseException, path: Path | None) -> str:
    """What an import raised, and where."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: SyntaxError: {error.msg}"
    lines = []
    step = error.__traceback__
    while step is not None:
        lines.append((step.tb_frame.f_code.co_filename, step.tb_lineno))
        step = step.tb_next
    ours = [line for line in lines if path is not None and line[0] == str(path)] or lines
    file, line = ours[-1]
    return f"{file}:{line}: {type(error).__name__}: {error}"


def _source(module: ModuleType, attribute: str) -> bytes:
    """The source of a class of a module that was imported: of the module, where it has a
    file, else of what the class does."""
    if module.__name__ != "__main__" and getattr(module, "__file__", None):
        return Path(str(module.__file__)).read_bytes()
    kind = getattr(module, attribute, None)
    try:
        return inspect.getsource(kind).encode() if kind is not None else b""
    except (OSError, TypeError):
        codes = [var.__code__ for var in vars(kind).values() if inspect.isfunction(var)]
        plain = [(code.co_code, code.co_names, _plain(code.co_consts)) for code in codes]
        return repr(plain).encode()


def _plain(constants: tuple[object, ...]) -> list[object]:
    """Without the code of inner functions, which is shown by its address."""
    return [constant for constant in constants if not inspect.iscode(constant)]


def _digest(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()[:DIGITS]
