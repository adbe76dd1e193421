"""The command line: finds its commands by name and imports only the one that runs."""

import sys
from typing import NoReturn

import click

from gnomon.errors import GnomonError
from tools.core.registry import Registry

# A command named by a Python keyword lives in a module with an underscore behind: `try_`.
COMMANDS: Registry[click.Command] = Registry("service.cli.commands", "command")
DONE, INCOMPLETE, BAD_USAGE = 0, 1, 2


class CommandsOnDemand(click.Group):
    """A group whose commands are modules; listing them imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return [name.rstrip("-") for name in COMMANDS.names()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (same)
        module = next((name for name in COMMANDS.names() if name.rstrip("-") == cmd_name), None)
        return COMMANDS.get(module) if module else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (same)
        rows = [(name.rstrip("-"), COMMANDS.summary(name)) for name in COMMANDS.names()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(cls=CommandsOnDemand, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="gnomon-eval", prog_name="gnomon")
def cli() -> None:
    """Gnomon finds out what giving a model tools changes in how well it reasons about space and time.

    Start with `gnomon demo`. Exit codes: 0 done, 1 trials are missing or a check failed, 2 bad usage or spec.
    """


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; whatever a user can mend is one line on stderr, never a traceback."""
    try:
        code = cli.main(args=args, prog_name="gnomon", standalone_mode=False)
    except click.ClickException as error:
        _say(error.format_message())
        code = BAD_USAGE
    except GnomonError as error:
        _say(str(error))
        code = BAD_USAGE if error.status < 500 else INCOMPLETE
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted")
        code = INCOMPLETE
    except BrokenPipeError:
        # Whoever read our output has left; Python would complain once more when it closes the pipe.
        sys.stderr.close()
        code = DONE
    except OSError as error:
        _say(f"{error.filename or 'the system'}: {error.strerror or error}")
        code = BAD_USAGE if error.filename else INCOMPLETE
    except Exception as error:
        from sqlalchemy.exc import OperationalError  # slow to import: most commands need no store

        if not isinstance(error, OperationalError):
            raise
        _say(f"the store cannot be reached, or cannot write: {type(error.orig).__name__}")
        code = INCOMPLETE
    sys.exit(code if isinstance(code, int) else DONE)


def _say(message: str) -> None:
    click.echo(f"gnomon: {' '.join(message.split())}", err=True)
