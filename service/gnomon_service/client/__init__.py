"""A typed client of a Gnomon service: `Client` for plain code, `AsyncClient` for code with an event loop."""

from gnomon_service.client.asynchronous import AsyncClient
from gnomon_service.client.errors import ApiError
from gnomon_service.client.synchronous import Client

__all__ = ["ApiError", "AsyncClient", "Client"]
