"""The API's socket sends small answers at once."""

import socket

from gnomon_service.serving import listen


def test_a_connection_waits_for_no_acknowledgement_before_it_sends_more() -> None:
    with (
        listen("127.0.0.1", 0, has_keys=True) as listener,
        socket.create_connection(listener.getsockname()) as _,
        listener.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
