"""A typed client of a Gnomon service: `Client` for plain code, `AsyncClient` for code with an event loop."""

from service.client.asynchronous import AsyncClient
from service.client.errors import ApiError
from service.client.synchronous import Client

__all__ = ["ApiError", "AsyncClient", "Client"]
