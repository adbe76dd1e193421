"""Bounds the connections of uvicorn: a deadline for each request's head, and a limit to their number."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 10.0  # from the connection, or the answer before, to the end of the next request's headers
MAX_CONNECTIONS = 512  # beyond it idle ones are closed, the longest idle first


class BoundedProtocol(H11Protocol):
    """A connection that is closed when no whole head comes in time; `RequestGuard` bounds the body.

    uvicorn itself closes one that is silent after an answer, in its `timeout_keep_alive`.
    """

    _deadline: asyncio.TimerHandle | None = None
    since_s = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the base
        """Begin to wait for a request; close an idle connection if there are too many."""
        super().connection_made(transport)
        self._update_deadline()
        if len(self.connections) > MAX_CONNECTIONS:
            # Connections that are being closed leave the set a little later.
            idle = [
                connection
                for connection in self.connections
                if isinstance(connection, BoundedProtocol)
                and connection.is_waiting
                and not connection.transport.is_closing()
            ]
            min(idle, key=lambda connection: connection.since_s, default=self).transport.abort()

    def data_received(self, data: bytes) -> None:
        """Parse what arrived."""
        super().data_received(data)
        self._update_deadline()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, unless it is here already."""
        super().on_response_complete()
        self._update_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
        super().connection_lost(exc)
        if self._deadline is not None:
            self._deadline.cancel()

    @property
    def is_waiting(self) -> bool:
        """Whether no request of this connection is being handled."""
        return self.cycle is None or self.cycle.response_complete

    def _update_deadline(self) -> None:
        if self.is_waiting and self._deadline is None:
            self.since_s = self.loop.time()
            self._deadline = self.loop.call_later(HEAD_S, self.transport.abort)
        elif not self.is_waiting and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
