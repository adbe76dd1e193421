"""Defines a session with a tool server, from start to end; each kind of server has a class of its own."""

from typing import Any, Protocol

from gnomon_tools.servers.answer import Answer
from gnomon_tools.servers.listing import ListedTool, Listing


class SessionEnded(Exception):
    """The server is gone, or no longer speaks: its process has ended, or its connection."""


class StartFailed(Exception):
    """The server could not be started, or did not list its tools in time; the message says why."""


class Session(Protocol):
    """Runs on the event loop of `connections.py` alone."""

    checks_each_call: bool  # whether its listing costs little enough to be compared before every call
    is_broken: bool  # whether it can take no further call
    has_news: bool  # whether the server has said that its tools have changed, since they were listed

    async def open(self) -> Listing:
        """Start it, and return what it offers.

        Raises:
            StartFailed: it did not start, or not in time.
        """
        ...

    async def listing(self) -> Listing:
        """What it offers now.

        Raises:
            SessionEnded: it is gone.
        """
        ...

    async def call(self, tool: ListedTool, arguments: dict[str, Any]) -> Answer:
        """Call one of its tools.

        Raises:
            SessionEnded: it is gone, and may have run the tool or not.
            BadResult: what came cannot be read.
        """
        ...

    async def close(self) -> None:
        """Stop it; raises nothing."""
        ...
