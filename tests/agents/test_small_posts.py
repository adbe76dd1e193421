"""Small bodies are posted as aiohttp's session posts them: the same bytes, answers and faults."""

import asyncio
import gzip

import pytest

from agents.models.http_client import HttpClient
from agents.models.litellm_errors import Scrubber
from gnomon.core.errors import ProviderFault

HEADERS = {"Authorization": "Bearer key", "X-Own": "1"}
PACKED = gzip.compress(b'{"a": 1}')
ANSWERS = {
    "plain": b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nX: y\r\n\r\n" + b'{"a": 1}',
    "in chunks": b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n4\r\n: 1}\r\n0\r\n\r\n',
    "packed": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b"
    % (len(PACKED), PACKED),
    "until the end": b'HTTP/1.0 200 OK\r\n\r\n{"a": 1}',
    "closing": b"HTTP/1.1 500 Oh\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno",
    "after hints": b"HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    "nothing": b"HTTP/1.1 204 No Content\r\n\r\n",
    "elsewhere": b"HTTP/1.1 307 Away\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n",
    "no HTTP": b"hello there\r\n\r\n",
    "cut": b"HTTP/1.1 200 OK\r\nContent-Length: 80\r\n\r\n{",
    "silence": b"",
    "many headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 400 + b"Content-Length: 2\r\n\r\n{}",
}


class Server:
    """Answers each request with the same bytes; keeps what it got, and how many connections there were."""

    def __init__(self, answer):
        self.answer, self.got, self.opened = answer, [], 0
        self.asked, self.closed = asyncio.Event(), asyncio.Event()

    async def serve(self, reader, writer):
        self.opened += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                self.got.append(head + await reader.readexactly(length))
                self.asked.set()
                writer.write(self.answer)
                if not self.answer or b"HTTP/1.0" in self.answer or b"80" in self.answer:
                    break  # the connection ends here
                await writer.drain()
        except asyncio.IncompleteReadError:
            pass
        finally:
            self.closed.set()
            writer.close()


async def served(answer):
    server = Server(answer)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    return server, listening, listening.sockets[0].getsockname()[1]


async def two_posts(answer, *, timeout_s=5.0):
    """What two calls one after another send, and what comes of them, without the port."""
    server, listening, port = await served(answer)
    client, came = HttpClient(f"http://127.0.0.1:{port}/v1/chat?a=b"), []
    for _ in range(2):
        try:
            reply = await client.post([b'{"x":', b"1}"], HEADERS, timeout_s=timeout_s, scrub=Scrubber())
            came.append((reply.status, dict(reply.headers), reply.body, reply.json))
        except ProviderFault as fault:
            came.append((fault.cause, fault.transient, str(fault).replace(str(port), "PORT")))
    await client.close()
    listening.close()
    return [one.replace(str(port).encode(), b"PORT") for one in server.got], came, server.opened


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
async def test_a_small_post_is_that_of_a_session(answer, monkeypatch):
    small = await two_posts(answer)
    monkeypatch.setattr("agents.models.http_client.takes_small_posts", lambda *_: False)
    assert await two_posts(answer) == small
    assert len(small[0]) == len(small[1]) == 2


async def test_a_call_without_an_answer_in_time_is_closed():
    server, listening, port = await served(b"HTTP/1.1 200 OK\r\n")
    client = HttpClient(f"http://127.0.0.1:{port}/")
    with pytest.raises(ProviderFault) as caught:
        await client.post([b"{}"], HEADERS, timeout_s=0.05, scrub=Scrubber())
    assert caught.value.cause == "timeout"
    await asyncio.wait_for(server.closed.wait(), 5.0)
    await client.close()
    listening.close()


async def test_a_call_that_is_cancelled_is_closed():
    server, listening, port = await served(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
    client = HttpClient(f"http://127.0.0.1:{port}/")
    call = asyncio.create_task(client.post([b"{}"], HEADERS, timeout_s=60.0, scrub=Scrubber()))
    await asyncio.wait_for(server.asked.wait(), 5.0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.wait_for(server.closed.wait(), 5.0)
    await client.close()
    listening.close()


async def test_another_key_is_sent_from_then_on():
    server, listening, port = await served(ANSWERS["plain"])
    client = HttpClient(f"http://127.0.0.1:{port}/")
    for key in ("one", "two"):
        await client.post([b"{}"], {"Authorization": key}, timeout_s=5.0, scrub=Scrubber())
    assert [key in got for key, got in zip((b"one", b"two"), server.got, strict=True)] == [True, True]
    assert server.opened == 1
    await client.close()
    listening.close()


@pytest.mark.parametrize("url", ["http://me:word@127.0.0.1:1/", "ftp://127.0.0.1/", "no address", "http://"])
async def test_an_unusual_address_is_left_to_the_session(url, monkeypatch):
    monkeypatch.setattr("agents.models.http_client.SmallPosts", None)
    client = HttpClient(url)
    with pytest.raises(ProviderFault):
        await client.post([b"{}"], {}, timeout_s=5.0, scrub=Scrubber())
    await client.close()
