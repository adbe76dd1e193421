"""Opens Redis by its URL: one server, or the primary that its Sentinels name.

`redis://`, `rediss://` (TLS) and `unix://` name a server; `sentinel://HOST:PORT,HOST:PORT/SERVICE` names
Sentinels, with `redis+sentinel://` and, with TLS, `rediss+sentinel://` as other spellings. All reads go to
the primary: a replica may lack what was queued last.
"""

from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.sentinel import Sentinel as AsyncSentinel
from redis.asyncio.sentinel import SentinelConnectionPool as AsyncSentinelPool
from redis.exceptions import ReadOnlyError
from redis.sentinel import Sentinel, SentinelConnectionPool

from gnomon.core.errors import SpecError

SENTINEL_PORT = 26_379
SENTINEL_TIMEOUT_S = 2.0  # one that is silent for longer is passed over
ALLOWED = "redis://…, rediss://…, unix://… or sentinel://HOST:PORT,HOST:PORT/SERVICE"
_SCHEMES = ("sentinel", "redis+sentinel", "rediss+sentinel")


@dataclass(frozen=True, slots=True, kw_only=True)
class SentinelAddress:
    """Sentinels, the service that they watch, and what its servers and they themselves are opened with."""

    sentinels: tuple[tuple[str, int], ...]
    service: str
    server: dict[str, Any]
    sentinel: dict[str, Any]


def redis_at(url: str, **options: Any) -> Redis:
    """A client of the server, or of the primary; it connects at its first command.

    A server that takes no writes any more was the primary: it is left, and its address looked up again.

    Raises:
        SpecError: the URL names Sentinels, but not as it should.
        ValueError: it is of another kind.
    """
    if (address := read_sentinel_url(url)) is None:
        return Redis.from_url(url, retry_on_error=[ReadOnlyError], **options)
    manager: Any = cast(Any, Sentinel)(address.sentinels, sentinel_kwargs=address.sentinel)
    wanted = {**address.server, **options}
    return cast(Redis, manager.master_for(address.service, connection_pool_class=_PrimaryPool, **wanted))


def async_redis_at(url: str, **options: Any) -> AsyncRedis:
    """The same for a loop.

    Raises:
        SpecError, ValueError: as for `redis_at`.
    """
    if (address := read_sentinel_url(url)) is None:
        return AsyncRedis.from_url(url, retry_on_error=[ReadOnlyError], **options)
    manager: Any = cast(Any, AsyncSentinel)(address.sentinels, sentinel_kwargs=address.sentinel)
    wanted = {**address.server, **options}
    client = manager.master_for(address.service, connection_pool_class=_AsyncPrimaryPool, **wanted)
    return cast(AsyncRedis, client)


def read_sentinel_url(url: str) -> SentinelAddress | None:
    """What a URL of Sentinels names; None for a URL of another kind. User and password are those of the
    service's servers; those of the Sentinels are `?sentinel_username=…&sentinel_password=…`.

    >>> address = read_sentinel_url("sentinel://:pw@10.0.0.1,10.0.0.2:26380/queue/1")
    >>> address.sentinels, address.service, address.server
    ((('10.0.0.1', 26379), ('10.0.0.2', 26380)), 'queue', {'db': 1, 'password': 'pw'})

    Raises:
        SpecError: a part is missing or wrong; the message repeats none, as one may be a password.
    """
    scheme, separator, _ = url.partition("://")
    if not separator or scheme not in _SCHEMES:
        return None
    parts = urlsplit(url)
    user, _, hosts = parts.netloc.rpartition("@")
    name, _, password = user.partition(":")
    service, _, db = parts.path.strip("/").partition("/")
    query = dict(parse_qsl(parts.query))
    if not service:
        raise _unreadable("the service is missing")
    if db and not db.isdecimal():
        raise _unreadable("what follows the service is the number of a database")
    if not query.keys() <= {"sentinel_username", "sentinel_password"}:
        raise _unreadable("an option is unknown")
    server = {"db": int(db or 0), "username": unquote(name), "password": unquote(password)}
    server |= {"ssl": True} if scheme == "rediss+sentinel" else {}
    sentinel = {key.removeprefix("sentinel_"): value for key, value in query.items()}
    timeouts = {"socket_timeout": SENTINEL_TIMEOUT_S, "socket_connect_timeout": SENTINEL_TIMEOUT_S}
    return SentinelAddress(
        sentinels=tuple(_host(part) for part in hosts.split(",")),
        service=service,
        server={key: value for key, value in server.items() if value or key == "db"},
        sentinel={**timeouts, **sentinel, **({"ssl": True} if "ssl" in server else {})},
    )


def _host(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":") if text.rpartition(":")[2].isdecimal() else (text, "", "")
    if not host:
        raise _unreadable("a Sentinel has no name")
    return host.strip("[]"), int(port or SENTINEL_PORT)


def _unreadable(reason: str) -> SpecError:
    return SpecError(f"{reason}; allowed: {ALLOWED}", field="GNOMON_REDIS_URL")


class _PrimaryPool(SentinelConnectionPool):
    """Closes its connections to Sentinels too, when it is closed."""

    def disconnect(self, inuse_connections: bool = True) -> None:
        super().disconnect(inuse_connections)
        if inuse_connections:
            self.sentinel_manager.close()


class _AsyncPrimaryPool(AsyncSentinelPool):
    """The same for a loop."""

    async def disconnect(self, inuse_connections: bool = True) -> None:
        await super().disconnect(inuse_connections)
        if inuse_connections:
            await self.sentinel_manager.aclose()
