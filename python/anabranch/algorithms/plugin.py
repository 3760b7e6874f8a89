"""Window algorithms in Rust, as shared libraries: what they are called, and a folder to begin one.

The folder is the template with the name put in, and a copy of the crate `anabranch-algorithm`,
which the native module carries as text. So it builds without a network, and against the interface
of the Anabranch that wrote it.
"""

from __future__ import annotations

import functools
import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from anabranch import cargo
from anabranch.errors import InputError
from anabranch.files import output_directory, write_text
from anabranch.native import core

CRATE = "anabranch-algorithm"
"""The crate of the interface, and the folder of its copy."""

ENDINGS = (".so", ".dylib", ".dll")
"""Names that end so are those of shared libraries."""

TEMPLATE_NAME = "my-law"
"""The name in the template's files, also as `my_law`."""

BUILT = "target/release"
"""Where cargo puts the library, in the template's files, unless something says otherwise."""

_NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")

_TAKEN = """
abstract alloc as async await become box break const continue core crate do dyn else enum extern
false final fn for gen if impl in let loop macro match mod move mut override priv proc-macro
proc_macro pub ref return self static std struct super test trait true try type typeof unsafe
unsized use virtual where while yield anabranch-algorithm anabranch_algorithm
"""
"""Words of Rust and crates that are there already."""


def is_library(name: str) -> bool:
    """Whether an algorithm's name is that of a shared library.

    >>> is_library("target/release/libmine.so"), is_library("mine.py:Mine")
    (True, False)
    """
    return name.endswith(ENDINGS)


def write(name: str, folder: Path) -> Path:
    """Writes the folder of an algorithm called `name`; it must be new or empty."""
    if not _NAME.fullmatch(name) or name in _TAKEN.split():
        allowed = "lower-case letters, digits and single - or _ between, as my-law; no word of Rust"
        raise InputError.about("new algorithm", "NAME", name, allowed)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        allowed = "a new or empty folder; --out names another"
        raise InputError.about("new algorithm", "folder", str(folder), allowed)
    output_directory(folder)
    names = [(TEMPLATE_NAME, name), (_in_rust(TEMPLATE_NAME), _in_rust(name))]
    template = _template(files("anabranch.algorithms") / "template")
    for path, text in template:
        write_text(folder / path, _named(text, names))
    for inside, text in core.ALGORITHM_CRATE:
        write_text(folder / CRATE / inside, text)
    target = cargo.target(folder)  # which cargo knows of a package that is there
    if target != folder.absolute() / "target":
        names.append((BUILT, (target / "release").as_posix()))
        for path, text in template:
            write_text(folder / path, _named(text, names))
    return folder


def _named(text: str, names: list[tuple[str, str]]) -> str:
    return functools.reduce(lambda it, pair: it.replace(*pair), names, text)


def _in_rust(name: str) -> str:
    """The name as Rust and the library's file have it."""
    return name.replace("-", "_")


def _template(folder: Traversable, inside: Path = Path()) -> list[tuple[Path, str]]:
    """The files of the template. Package tools leave out what a .gitignore names, so that it has
    another name there."""
    found = []
    for each in sorted(folder.iterdir(), key=lambda each: each.name):
        path = inside / {"gitignore": ".gitignore"}.get(each.name, each.name)
        if each.is_dir():
            found += _template(each, path)
        else:
            found.append((path, each.read_text(encoding="utf-8")))
    return found
