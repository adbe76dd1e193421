"""Serve the tools to other programs by the Model Context Protocol (MCP)."""

import asyncio
import signal
from typing import TYPE_CHECKING

import click

from gnomon.core.errors import SpecError
from gnomon.report.text_formats import count

if TYPE_CHECKING:
    from gnomon_workbench.mcp_server.offer import Offer


@click.command()
@click.option(
    "--scene",
    "scenes",
    multiple=True,
    metavar="SCENE",
    help="What tools may look at: a scene file (GeoJSON), a folder of them, the request of a trip (JSON), an"
    " example (small, floors), a generated world (w0-00003) or JOB/SAMPLE. Repeatable. None: the examples.",
)
@click.option("--tool", "names", multiple=True, metavar="NAME", help="Offer this tool only. Repeatable.")
@click.option(
    "--http",
    "address",
    metavar="HOST:PORT",
    help="Serve over streamable HTTP there (port 0: any free one) instead of standard input and output.",
)
@click.option(
    "--token-env",
    metavar="NAME",
    help="With --http: the variable that holds the bearer token which requests must carry. Needed for a HOST"
    " that other machines reach.",
)
def mcp(scenes: tuple[str, ...], names: tuple[str, ...], address: str | None, token_env: str | None) -> None:
    """Serve the tools as an MCP server, on standard input and output or over HTTP, until interrupted.

    \b
    Examples:
      gnomon mcp --scene examples/scenes/small.geojson
      gnomon mcp --scene my-scenes/ --http 127.0.0.1:8001

    Standard output holds the protocol and nothing else; what is to be said goes to stderr.
    """  # noqa: D301 (click's own mark: what follows keeps its lines)
    if address is None and token_env is not None:
        raise click.UsageError("--token-env goes with --http")
    from gnomon_workbench.mcp_offer import (  # late, as all here: a wrong option needs none of it
        offer_of,
        token_from,
    )
    from gnomon_workbench.mcp_server.serve import is_loopback, serve_stdio

    host, port = ("", 0) if address is None else _host_and_port(address)
    token = token_from(token_env)
    if address is not None and token is None and not is_loopback(host):
        raise SpecError(f"other machines reach {host}: name a token with --token-env", field="--http")
    offer = offer_of(scenes, names=names)
    what = f"{count(len(offer.tools), 'tool')}, {count(len(offer.resources), 'scene')}"
    if address is None:
        click.echo(f"gnomon mcp: {what}, on standard input and output", err=True)
        # Python's own handler would wait for the thread that reads standard input.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        asyncio.run(serve_stdio(offer))
    else:
        asyncio.run(_serve_http(offer, host, port, token, what))


async def _serve_http(offer: "Offer", host: str, port: int, token: str | None, what: str) -> None:
    from gnomon_workbench.mcp_server.serve import served_over_http

    async with served_over_http(offer, host=host, port=port, token=token, is_open=token is None) as endpoint:
        click.echo(f"gnomon mcp: {what}, at {endpoint.url}", err=True)
        await asyncio.Event().wait()


def _host_and_port(address: str) -> tuple[str, int]:
    """Both parts of an address.

    >>> _host_and_port("127.0.0.1:8001"), _host_and_port("[::1]:0")
    (('127.0.0.1', 8001), ('::1', 0))

    Raises:
        SpecError: it is no address.
    """
    host, colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isascii() and port.isdecimal() and int(port) < 65536):
        raise SpecError(f"{address!r} is no address; such as 127.0.0.1:8001", field="--http")
    return host, int(port)
