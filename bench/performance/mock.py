"""Serves a mock of an OpenAI-compatible endpoint that costs almost nothing; `/l200/v1` replies after 200 ms.

    python -m bench.performance.mock        prints its port, serves until it is stopped

A request whose conversation holds fewer than CALLS tool results is answered with a tool call, else with the
answer. It reads no JSON: it counts what no other text of the workload holds.
"""

import asyncio
import json
import re

from bench.performance.workload import ANSWER, ARGUMENTS, CALLS, TOOL

RESULT = re.compile(rb'"tool_call_id": ?"')
LENGTH = re.compile(rb"content-length: ?(\d+)", re.IGNORECASE)


def _reply(message: dict[str, object], finish_reason: str) -> bytes:
    body = json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "mock",
            "choices": [{"index": 0, "finish_reason": finish_reason, "message": message}],
            "usage": {"prompt_tokens": 400, "completion_tokens": 20, "total_tokens": 420},
        }
    ).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def replies() -> list[bytes]:
    """What is said after so many tool results."""
    called = []
    for number in range(CALLS):
        function = {"name": TOOL, "arguments": ARGUMENTS}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        called.append(_reply({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"))
    return [*called, _reply({"role": "assistant", "content": ANSWER}, "stop")]


class Mock(asyncio.Protocol):
    """One connection; requests come one after another."""

    def __init__(self, said: list[bytes]) -> None:
        self._said, self._got, self._need = said, b"", 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._got += data
        if not self._need:
            end = self._got.find(b"\r\n\r\n")
            found = LENGTH.search(self._got, 0, end) if end >= 0 else None
            if found is None:
                return
            self._need = end + 4 + int(found[1])
        if len(self._got) >= self._need:
            self._answer(self._got)
            self._got, self._need = b"", 0

    def _answer(self, request: bytes) -> None:
        reply = self._said[min(CALLS, len(RESULT.findall(request)))]
        if request.startswith(b"POST /l"):
            latency_s = int(request[7 : request.index(b"/", 7)]) / 1000
            asyncio.get_running_loop().call_later(latency_s, self._send, reply)
        else:
            self._send(reply)

    def _send(self, reply: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(reply)


async def _main() -> None:
    said = replies()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Mock(said), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main())
