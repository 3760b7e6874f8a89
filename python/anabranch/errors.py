"""The exceptions that a user can meet.

Each maps to one exit status of the command line: `InputError` to 2 (what was
given is wrong), `RunError` to 1 (what was given is right, but the run failed).
"""

from __future__ import annotations


def one_line(text: str) -> str:
    """`text` with every run of white space, line ends included, as one blank."""
    return " ".join(text.split())


class AnabranchError(Exception):
    """Base of the family; the message is one line."""

    exit_status = 1

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class RunError(AnabranchError):
    """The run failed although its input was right."""


class AlgorithmError(RunError):
    """An algorithm of the user's own could not go on: names its file and line, the simulated
    time and the flow. What it raised, if it did, is the `__cause__`."""

    def __init__(
        self,
        message: str,
        *,
        algorithm: str,
        place: str,
        file: str | None = None,
        line: int | None = None,
        time_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.algorithm = algorithm
        """Its name in the scenario."""
        self.place = place
        """What it governed: `flow web, client`, `link r1-r2`."""
        self.file = file
        self.line = line
        self.time_s = time_s
        """The simulated time; `None` in live runs."""


class StuckError(RunError):
    """A call of an algorithm of the user's own waits outside of Python, where nothing can stop
    it: the process must end."""


ABSENT = "(absent)"
"""The value of a field that is not there and has to be."""


class InputError(AnabranchError, ValueError):
    """The input is wrong: names the file, the field, the value and what is allowed."""

    exit_status = 2

    @classmethod
    def about(cls, where: str, field: str, value: str, allowed: str) -> InputError:
        """The message in the form that the core uses, too."""
        if value == ABSENT:
            return cls(f"{where}: field `{field}` is required: {allowed}")
        return cls(f"{where}: field `{field}`: value `{value}`: allowed: {allowed}")
