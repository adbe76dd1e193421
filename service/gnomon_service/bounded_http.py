"""An HTTP protocol for uvicorn with a deadline for each request's head and body, and a connection limit."""

import asyncio
from typing import Literal

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 10.0  # from the connection, or a later request's first byte, to the end of the headers
BODY_S = 30.0  # from there to the end of the body
MAX_CONNECTIONS = 512  # beyond it idle ones are closed, the longest idle first

Phase = Literal["head", "body"] | None


class BoundedProtocol(H11Protocol):
    """A connection that is closed when a request does not arrive in time."""

    _phase: Phase = None
    _timer: asyncio.TimerHandle | None = None
    since_s = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the base
        """Begin to wait for a request; close an idle connection if there are too many."""
        super().connection_made(transport)
        self._expect("head")
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
        """Parse what arrived, and set the deadline for what is still to come."""
        super().data_received(data)
        self._update_deadline()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        self.since_s = self.loop.time()
        self._update_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
        self._expect(None)
        super().connection_lost(exc)

    @property
    def is_waiting(self) -> bool:
        """Whether no request of this connection is being handled."""
        return self.cycle is None or self.cycle.response_complete

    def _update_deadline(self) -> None:
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._expect("body")
        elif state is h11.IDLE and (self.cycle is None or self.conn.trailing_data[0]):
            self._expect("head")
        else:
            self._expect(None)

    def _expect(self, phase: Phase) -> None:
        if phase == self._phase:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._phase, self._timer, self.since_s = phase, None, self.loop.time()
        if phase is not None:
            # RequestGuard answers a slow body with 408 first; this closes the connection if it still sends.
            self._timer = self.loop.call_later(
                HEAD_S if phase == "head" else BODY_S + 1, self.transport.abort
            )
