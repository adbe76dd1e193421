"""Bounded HTTP: what uvicorn leaves open, a deadline for each request's head and body, and room for the next
caller when somebody holds all connections.
"""

import asyncio
from typing import Literal

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 10.0  # from the connection, or a later request's first byte, to the end of the headers
BODY_S = 30.0  # from there to the end of the body
MAX_CONNECTIONS = 512  # those past it that wait for a request are closed, the longest waiting first

Phase = Literal["head", "body"] | None


class BoundedProtocol(H11Protocol):
    """A connection that is closed when a request does not come in time."""

    _phase: Phase = None
    _timer: asyncio.TimerHandle | None = None
    since_s = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the base
        """Begin to wait for a request; make room if there is none."""
        super().connection_made(transport)
        self._expect("head")
        if len(self.connections) > MAX_CONNECTIONS:
            # Those that are being closed leave the set a little later.
            waiting = [
                one
                for one in self.connections
                if isinstance(one, BoundedProtocol) and one.is_waiting and not one.transport.is_closing()
            ]
            min(waiting, key=lambda one: one.since_s, default=self).transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take what came, and look at what is still to come."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Go on to the next request."""
        super().on_response_complete()
        self.since_s = self.loop.time()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._expect(None)
        super().connection_lost(exc)

    @property
    def is_waiting(self) -> bool:
        """Whether nobody works for this connection."""
        return self.cycle is None or self.cycle.response_complete

    def _look(self) -> None:
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
            # The guard answers a slow body with 408 first; this closes the connection of who goes on sending.
            self._timer = self.loop.call_later(
                HEAD_S if phase == "head" else BODY_S + 1, self.transport.abort
            )
