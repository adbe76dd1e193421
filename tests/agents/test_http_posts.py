"""A body is posted whole, each kind of answer is read or named as a fault, and a call leaves nothing open."""

import asyncio
import gzip
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from gnomon.core.errors import ProviderFault
from gnomon_agents.models.http_client import HttpClient
from gnomon_agents.models.litellm_errors import Scrubber

ROOT = Path(__file__).parents[2]
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
# The status and the JSON, or the cause and whether it is transient; and the connections of two calls.
COMES = {
    "plain": (200, {"a": 1}, 1),
    "in chunks": (200, {"a": 1}, 1),
    "packed": (200, {"a": 1}, 1),
    "until the end": (200, {"a": 1}, 2),
    "closing": (500, None, 2),
    "after hints": (200, {}, 1),
    "nothing": (204, None, 1),
    "elsewhere": (307, None, 1),
    "no HTTP": ("bad_response", True, 2),
    "cut": ("connection", True, 2),
    "silence": ("connection", True, 2),
    "many headers": ("bad_response", True, 2),
}


def certificate_of(host, folder):
    """A certificate that a host has signed itself, and its key, as files."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, of_key = folder / "certificate.pem", folder / "key.pem"
    pem.write_bytes(certificate.public_bytes(Encoding.PEM))
    of_key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return pem, of_key


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


@pytest.mark.parametrize("kind", ANSWERS)
async def test_a_body_is_posted_whole_and_each_kind_of_answer_is_read_or_a_fault(kind):
    sent, came, opened = await two_posts(ANSWERS[kind])
    assert len(sent) == 2
    for request in sent:
        head, _, body = request.partition(b"\r\n\r\n")
        assert head.startswith(b"POST /v1/chat?a=b HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n")
        assert {b"Authorization: Bearer key", b"X-Own: 1", b"Content-Length: 7"} <= {*head.split(b"\r\n")}
        assert body == b'{"x":1}'
    assert [(one[0], one[1] if isinstance(one[0], str) else one[3]) for one in came] == [COMES[kind][:2]] * 2
    assert opened == COMES[kind][2]


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


OVER_TLS = """
import asyncio, ssl, sys

from gnomon_agents.models.http_client import HttpClient
from gnomon_agents.models.litellm_errors import Scrubber
from tests.agents.test_http_posts import ANSWERS, HEADERS, Server

async def main(certificate, key):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    server = Server(ANSWERS["plain"])
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context)
    client = HttpClient(f"https://localhost:{listening.sockets[0].getsockname()[1]}/v1")
    for _ in range(2):
        reply = await client.post([b"{}"], HEADERS, timeout_s=5.0, scrub=Scrubber())
        print(reply.status, reply.json, server.opened)
    await client.close()

asyncio.run(main(*sys.argv[1:]))
"""


def test_a_post_goes_over_tls(tmp_path):
    certificate, key = certificate_of("localhost", tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", OVER_TLS, certificate, key],
        env={**os.environ, "SSL_CERT_FILE": str(certificate)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["200 {'a': 1} 1"] * 2, done.stderr


@pytest.mark.parametrize("url", ["http://me:word@127.0.0.1:1/", "ftp://127.0.0.1/", "no address", "http://"])
async def test_an_address_that_nobody_answers_is_a_fault(url):
    client = HttpClient(url)
    with pytest.raises(ProviderFault):
        await client.post([b"{}"], {}, timeout_s=5.0, scrub=Scrubber())
    await client.close()
