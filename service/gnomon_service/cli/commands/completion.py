"""Print the script that completes commands and ids in a shell."""

import click

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that lets SHELL complete commands, options, ids and names.

    \b
    bash:  source <(gnomon completion bash)          in ~/.bashrc
    zsh:   source <(gnomon completion zsh)           in ~/.zshrc, after compinit
    fish:  gnomon completion fish | source           in ~/.config/fish/config.fish
    """  # noqa: D301 (click's own mark: what follows keeps its lines)
    from click.shell_completion import get_completion_class

    from gnomon_service.cli.main import COMPLETE_VARIABLE, cli

    script = get_completion_class(shell)
    assert script is not None  # noqa: S101 (click has all of SHELLS)
    click.echo(script(cli, {}, "gnomon", COMPLETE_VARIABLE).source())
