"""Manual pages and shell completions that the wheel installs, from the command line itself.

    python tests/manuals.py packaging/data/data/share      writes them anew

There is a page for `anabranch` and one for each of its commands, as `man anabranch-run`. The
completions ask the command with each Tab, as click's do, so that they never go out of date.
A generator of its own because click-man neither sees commands that are imported when called nor
escapes what troff would take for its own.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from anabranch.cli import COMMANDS, command

ROOT = Path(__file__).resolve().parents[1]
SHARE = ROOT / "packaging" / "data" / "data" / "share"
SCRIPTS = {
    "bash": "bash-completion/completions/anabranch",
    "zsh": "zsh/site-functions/_anabranch",
    "fish": "fish/vendor_completions.d/anabranch.fish",
}
EXIT_STATUS = """\
.SH EXIT STATUS
0 if all was done, 1 if the run failed, 2 if the input is wrong, 130 if it was interrupted.
"""


def main(share: Path) -> None:
    """Writes all files, and removes the page of a command that is gone."""
    written = {**pages(), **completions()}
    for old in set(share.glob("man/man1/*.1")) - {share / place for place in written}:
        old.unlink()
    for place, text in written.items():
        (share / place).parent.mkdir(parents=True, exist_ok=True)
        (share / place).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """The manual pages by their places."""
    return {
        f"man/man1/{context.command_path.replace(' ', '-')}.1": page(context)
        for context in contexts(click.Context(command, info_name="anabranch"))
    }


def contexts(context: click.Context) -> Iterator[click.Context]:
    """That of a command, and those of the commands within it."""
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            inner = context.command.get_command(context, name)
            assert inner is not None, name
            yield from contexts(click.Context(inner, info_name=name, parent=context))


def page(context: click.Context) -> str:
    """The manual page of one command."""
    name = context.command_path.replace(" ", "-")
    first, *rest = paragraphs(context.command.help or "")
    parts = [
        f'.TH "{name.upper()}" "1" "" "Anabranch" "Anabranch"\n',
        f".SH NAME\n{escaped(name)} \\- {escaped(summary(context, first))}\n",
        f".SH SYNOPSIS\n\\fB{escaped(context.command_path)}\\fP {escaped(usage(context))}\n",
        ".SH DESCRIPTION\n" + "\n.PP\n".join(map(escaped, [first, *rest])) + "\n",
    ]
    if options := [each for each in context.command.params if isinstance(each, click.Option)]:
        parts.append(".SH OPTIONS\n" + "".join(map(option, options)))
    if inner := [each for each in contexts(context) if each.parent is context]:
        parts.append(".SH COMMANDS\n" + "".join(map(entry, inner)))
    parts.append(EXIT_STATUS)
    if context.parent is not None:
        parent = escaped(context.parent.command_path.replace(" ", "-"))
        parts.append(f".SH SEE ALSO\n\\fB{parent}\\fP(1)\n")
    return "".join(parts)


def summary(context: click.Context, first: str) -> str:
    """What the list of commands says of one, or the first sentence of its help."""
    parent = context.parent
    if parent is not None and parent.command is command:
        return COMMANDS[str(context.info_name)].summary.removesuffix(".")
    return first.partition(". ")[0].removesuffix(".")


def usage(context: click.Context) -> str:
    """What follows the command's name."""
    found = ["[OPTIONS]"]
    for each in context.command.params:
        if isinstance(each, click.Argument):
            several = "..." if each.nargs == -1 else ""
            name = each.metavar or f"{str(each.name).upper()}{several}"
            found.append(name if each.required or name.startswith("[") else f"[{name}]")
    if isinstance(context.command, click.Group):
        found.append("COMMAND [ARGS]...")
    return " ".join(found)


def option(each: click.Option) -> str:
    """An entry of the options."""
    names = ", ".join(f"\\fB{escaped(name)}\\fP" for name in (*each.opts, *each.secondary_opts))
    value = "" if each.is_flag or each.count else f" {escaped(metavar(each))}"
    told = " ".join((each.help or "").split())
    if default := shown_default(each):
        told += f" [default: {default}]"
    return f".TP\n{names}{value}\n{escaped(told.strip())}\n"


def metavar(each: click.Option) -> str:
    """What stands for the value of an option."""
    if each.metavar:
        return each.metavar
    if isinstance(each.type, click.Choice):
        return "[" + "|".join(map(str, each.type.choices)) + "]"
    return each.type.name.removesuffix(" range").upper()


def shown_default(each: click.Option) -> str | None:
    """The default as the help shows it, if it does."""
    if isinstance(each.show_default, str):
        return each.show_default
    default = each.to_info_dict()["default"] if each.show_default else None
    return None if default is None or callable(default) else str(default)


def entry(inner: click.Context) -> str:
    """An entry of the commands."""
    name = inner.command_path.replace(" ", "-")
    first = paragraphs(inner.command.help or "")[0]
    return f".TP\n\\fB{escaped(name)}\\fP(1)\n{escaped(summary(inner, first))}.\n"


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a help, each as one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]


def escaped(text: str) -> str:
    """The text as troff shows it; a line may begin with anything."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text


def completions() -> dict[str, str]:
    """The scripts of the shells by their places."""
    found = {}
    for shell, place in SCRIPTS.items():
        kind = get_completion_class(shell)
        assert kind is not None, shell
        completion = kind(command, {}, "anabranch", "_ANABRANCH_COMPLETE")
        # Not `source()`, which would look for a shell on this machine.
        text = (completion.source_template % completion.source_vars()).strip()
        found[place] = text + "\n"
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
