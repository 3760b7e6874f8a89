"""Commands of real packets by users who are not root."""

from __future__ import annotations

import os
import sys

from anabranch.errors import RunError
from anabranch.native import core, guarded

_AS_ROOT_OF_A_NAMESPACE = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("anabranch._core", sys.argv.pop(1))
core = sys.modules["anabranch._core"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
try:
    core.enter_user_namespace()
except OSError as error:
    sys.exit(f"anabranch: {error}")
from anabranch.cli import main
main()
"""
"""A fresh process has a single thread, as a new user namespace asks for."""


def become_root_of_a_namespace() -> None:
    """Starts the command anew inside a user namespace, unless the user is root already; the
    core says what is missing."""
    with guarded():
        _ = core.enter_user_namespace  # which tells where there is none
    if os.geteuid() == 0:
        return
    file = core.__file__ or ""
    sys.stdout.flush()
    arguments = [sys.executable, "-c", _AS_ROOT_OF_A_NAMESPACE, file, *sys.argv[1:]]
    try:
        os.execv(sys.executable, arguments)
    except OSError as error:
        reason = f"to be root of a user namespace, {sys.executable} cannot be started anew"
        raise RunError(f"{reason}: {error.strerror}; run as root") from error
