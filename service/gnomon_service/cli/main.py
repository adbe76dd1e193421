"""The command line: finds its commands by name and imports only the one that runs."""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from gnomon.core.errors import FaultyFile, GnomonError
from gnomon.core.redaction import Redactor
from gnomon_tools.core.outside import FILES_ENV, PluginFault
from gnomon_tools.core.registry import Registry
from gnomon_workers.process import raise_gc_threshold

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# A command whose name is Python's own has an underscore after its module's name: `try_`, `open_`.
COMMANDS: Registry[click.Command] = Registry(
    "gnomon_service.cli.commands",
    "command",
    group="gnomon.commands",
    accepts=lambda item: isinstance(item, click.Command),
)
PLUGIN = "--plugin"
COMPLETE_VARIABLE = "_GNOMON_COMPLETE"
BLAS_THREADS = "OPENBLAS_NUM_THREADS"
DONE, INCOMPLETE, BAD_USAGE = 0, 1, 2
# How `--help` groups the commands; one that is not named here is listed under "More".
SECTIONS = {
    "Run a job": ("demo", "show", "try", "check", "wording", "plan", "run", "resume", "jobs"),
    "Look at results": (
        "open",
        "samples",
        "trace",
        "report",
        "diff",
        "gate",
        "board",
        "rescore",
        "replay",
        "analyse",
        "consensus",
        "export",
        "import",
        "seal",
        "verify",
    ),
    "Questions, tools and trips": (
        "benchmarks",
        "models",
        "tools",
        "mcp",
        "new",
        "plugins",
        "presets",
        "check-recording",
        "generate",
        "audit",
        "score",
        "itinerary",
    ),
    "Run a service": (
        "up",
        "submit",
        "api",
        "worker",
        "keys",
        "backup",
        "restore",
        "delete",
        "database",
        "completion",
    ),
}


def _command_names() -> tuple[str, ...]:
    """All commands; where a plug-in file does not load, which the command then says, those of Gnomon."""
    try:
        return COMMANDS.names()
    except PluginFault:
        return COMMANDS.own_names()


class CommandsOnDemand(click.Group):
    """A group whose commands are modules; listing them imports none."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, once `--plugin FILE` is at the front: it may be written behind any command."""
        plugins, others = _plugin_options(args)
        return super().parse_args(ctx, [*plugins, *others])

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return [name.rstrip("-") for name in _command_names()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (same)
        module = next((name for name in _command_names() if name.rstrip("-") == cmd_name), None)
        return COMMANDS.get(module) if module else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:  # click suggests only from commands it has loaded
            names = self.list_commands(ctx)
            suggestion = click.exceptions.NoSuchCommand(error.command_name, possibilities=names, ctx=ctx)
            if suggestion.possibilities:
                raise suggestion from None
            message = f"{error.message} `gnomon --help` lists the commands."
            raise click.UsageError(message, ctx) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem"]:  # noqa: ARG002
        from click.shell_completion import CompletionItem

        about = ((name.rstrip("-"), COMMANDS.summary(name)) for name in _command_names())
        return [CompletionItem(name, help=help_) for name, help_ in about if name.startswith(incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (same)
        about = {name.rstrip("-"): COMMANDS.summary(name) for name in _command_names()}
        named = {name for names in SECTIONS.values() for name in names}
        rest = tuple(name for name in about if name not in named)
        for title, names in {**SECTIONS, "More": rest}.items():
            rows = [(name, about[name]) for name in names if name in about]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _plugin_options(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """Arguments split into `--plugin FILE` and all others; what follows `--` is left as it is.

    >>> _plugin_options(["run", "--plugin", "a.py", "x.yaml", "--plugin=b.py", "--", "--plugin", "c.py"])
    (['--plugin', 'a.py', '--plugin=b.py'], ['run', 'x.yaml', '--', '--plugin', 'c.py'])
    """
    plugins: list[str] = []
    others: list[str] = []
    end = args.index("--") if "--" in args else len(args)
    at = 0
    while at < end:
        width = 2 if args[at] == PLUGIN and at + 1 < end else 1
        is_plugin = width == 2 or args[at].startswith(f"{PLUGIN}=")
        (plugins if is_plugin else others).extend(args[at : at + width])
        at += width
    return plugins, [*others, *args[end:]]


@click.group(cls=CommandsOnDemand, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    PLUGIN,
    "plugins",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A Python file with tools, benchmarks, agents, presets or models of your own; behind any command, "
    "any number of times.",
)
@click.version_option(package_name="gnomon-eval", prog_name="gnomon")
def cli(plugins: tuple[Path, ...]) -> None:
    """Gnomon measures what giving a model tools changes in how well it reasons about space and time.

    \b
    Examples:
      gnomon demo                                      see it work, offline, in under a minute
      gnomon show job.yaml --sample ID --arm tools     what the model would get
      gnomon run job.yaml --out results/               run the job and write its report
      gnomon COMMAND --help                            what a command takes

    Exit codes: 0 done, 1 trials are missing or a check failed, 2 bad usage or spec.
    """  # noqa: D301 (click's own mark: what follows keeps its lines)
    if plugins:  # by the environment, as child processes load the same
        named = [part for part in os.environ.get(FILES_ENV, "").split(os.pathsep) if part]
        os.environ[FILES_ENV] = os.pathsep.join([*named, *(str(path.absolute()) for path in plugins)])
    if os.environ.get(FILES_ENV):
        from gnomon.spec.pins import load_plugin_files  # late: only for those who have files

        load_plugin_files()


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; what a user can fix is one line on stderr, never a traceback."""
    # Before NumPy is loaded. Our matrices are small: threads would spend more time on waiting for each other.
    os.environ.setdefault(BLAS_THREADS, "1")
    raise_gc_threshold()
    atexit.register(gc.freeze)  # else Python, when it ends, looks through all that it throws away: 0.2 s
    try:
        code = cli.main(args=args, prog_name="gnomon", complete_var=COMPLETE_VARIABLE, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help())
        code = DONE
    except click.ClickException as error:
        _say(error.format_message())
        code = BAD_USAGE
    except PluginFault as fault:
        _say(str(fault))
        code = BAD_USAGE
    except GnomonError as error:
        lines = str(error).splitlines() if isinstance(error, FaultyFile) else [str(error)]
        _say(lines[0])
        for line in lines[1:]:
            click.echo(Redactor().redact_setting(line), err=True)
        code = BAD_USAGE if error.status < 500 else INCOMPLETE
    except (KeyboardInterrupt, click.Abort) as error:
        cause = error.__cause__ or error  # Click raises an Abort in its place
        _say(": ".join(["interrupted", *map(str, cause.args)]))
        code = INCOMPLETE
    except BrokenPipeError:
        # The reader of our output has exited; Python would complain once more when it closes the pipe.
        sys.stderr.close()
        code = DONE
    except OSError as error:
        _say(f"{error.filename or 'the system'}: {error.strerror or error}")
        code = BAD_USAGE if error.filename else INCOMPLETE
    except Exception as error:
        from sqlalchemy.exc import OperationalError  # slow to import: most commands need no store

        if not isinstance(error, OperationalError):
            raise
        from gnomon_workers.store.database import why_away

        _say(f"{why_away(error)}: {type(error.orig).__name__}")
        code = INCOMPLETE
    sys.exit(code if isinstance(code, int) else DONE)


def _say(message: str) -> None:
    click.echo(f"gnomon: {Redactor().redact_setting(' '.join(message.split()))}", err=True)
