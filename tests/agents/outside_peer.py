# ruff: noqa: T201
"""An agent of somebody else's, as a process of its own: by each protocol, well or badly, as the path says.

Standard library alone, so that it starts at once: `python outside_peer.py` prints the port it listens on.
"""

import json
import sys
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TASKS: dict[str, str] = {}  # states that were asked for once
TOLD = {
    "answer": "Paris",
    "steps": [
        {"kind": "reply", "text": "I look it up.", "prompt_tokens": 5, "completion_tokens": 2},
        {"tool": "atlas", "arguments": {"of": "France"}, "result": {"capital": "Paris"}},
        {"tool": "atlas", "args": "x", "error": "no such page"},
        {"kind": "reply", "text": "Paris", "prompt_tokens": 9, "completion_tokens": 1},
    ],
    "usage": {"usd": 0.25, "cached_tokens": 4},
}
HELD = {  # what a path answers: status, headers, body
    "500": (500, {}, "{}"),
    "401": (401, {}, '{"error": {"message": "no such key"}}'),
    "429": (429, {"Retry-After": "0"}, "{}"),
    "moved": (302, {"Location": "http://127.0.0.1:1/"}, ""),
    "text": (200, {}, "Paris is the capital"),
    "list": (200, {}, '["Paris"]'),
    "nothing": (200, {}, '{"text": "Paris"}'),
    "object": (200, {}, '{"answer": {"city": "Paris"}}'),
    "failed": (200, {}, '{"error": "my model is away"}'),
    "large": (200, {}, json.dumps({"answer": "x" * 10_000_000})),
    "odd": (
        200,
        {},
        '{"answer": 7, "steps": [1, {"x": {}}, null], "usage": {"prompt_tokens": -3, "usd": "1"}}',
    ),
    "told": (200, {}, json.dumps(TOLD)),
}


class Peer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        here = f"http://localhost:{self.server.server_address[1]}"
        url = (
            "http://example.org/rpc" if "elsewhere" in self.path else f"{here}/rpc/{self.path.split('/')[1]}"
        )
        version = "0.3" if "older" in self.path else "1.0"
        interface = {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": version}
        self._send(200, {}, json.dumps({"name": "peer", "supportedInterfaces": [interface]}))

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        door, _, rest = self.path[1:].partition("/")
        if door == "http":
            self._http(rest, question)
        elif door == "rpc":
            self._send(200, {}, json.dumps(rpc(rest, question)))
        else:
            self._send(200, {}, json.dumps(chat(rest, question, self.headers.get("Authorization"))))

    def _http(self, mode: str, question: dict[str, Any]) -> None:
        if mode == "hang":
            time.sleep(30)
        elif mode == "seen":
            keys = sorted(question), self.headers.get("Authorization"), question["messages"]
            self._send(200, {}, json.dumps({"answer": json.dumps(keys)}))
        elif mode == "tools":
            self._send(200, {}, json.dumps({"answer": " | ".join(calls_of(question["mcp"]))}))
        else:
            self._send(*HELD[mode])

    def _send(self, status: int, headers: dict[str, str], body: str) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        return None


def calls_of(server: dict[str, Any]) -> list[str]:
    """What three calls of the tool `echo` give back, and one of a tool that there is not."""
    answers = []
    for name, word in (("echo", "hello"), ("echo", "hush"), ("shout", "x"), ("echo", "again")):
        params = {"name": name, "arguments": {"word": word}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        accepts = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        headers = {**server["headers"], **accepts, "MCP-Protocol-Version": "2025-11-25"}
        request = urllib.request.Request(server["url"], data=json.dumps(call).encode(), headers=headers)
        with urllib.request.urlopen(request, timeout=20) as response:
            result = json.load(response)["result"]
        answers.append(f"{result['isError']} {result['content'][0]['text']}")
    return answers


def chat(path: str, question: dict[str, Any], key: str | None) -> dict[str, Any]:
    """A chat completion: the model's id and the key that came, or a wish that the caller runs a tool."""
    message: dict[str, Any] = {"role": "assistant", "content": f"Paris {question['model']} {key}"}
    if path.startswith("asks"):
        call = {"id": "c", "type": "function", "function": {"name": "atlas", "arguments": "{}"}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 2}}
    tools = [tool["type"] for tool in question.get("tools", ())]
    steps = {"steps": [{"tool": "given", "result": tools}]} if tools else {}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage, **steps}


def rpc(mode: str, request: dict[str, Any]) -> dict[str, Any]:
    """An answer of A2A's JSON-RPC binding."""
    if mode == "refuses":
        return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32603, "message": "out of order"}}
    states = {"failed": "FAILED", "asks": "INPUT_REQUIRED", "slow": "WORKING"}
    state = states.get(mode, "COMPLETED")
    if request["method"] == "GetTask":
        state = "COMPLETED"
    task: dict[str, Any] = {"id": "t", "status": {"state": f"TASK_STATE_{state}"}}
    if state == "COMPLETED":
        task["artifacts"] = [{"artifactId": "a", "parts": [{"text": "Paris"}, {"data": {"sure": True}}]}]
    if request["method"] == "GetTask":
        return {"jsonrpc": "2.0", "id": request["id"], "result": task}
    words = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "Paris"}]}
    result = {"message": words} if mode == "message" else {"task": task}
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def command(mode: str) -> None:
    """The agent as a command."""
    if mode == "lines":
        for count, _ in enumerate(sys.stdin, 1):
            print(json.dumps({"answer": f"Paris {count}"}), flush=True)
        return
    if mode == "child":  # a grandchild keeps stdout open, and the command never answers
        import subprocess

        child = subprocess.Popen(["sleep", "60"])
        print(child.pid, file=sys.stderr, flush=True)
        time.sleep(60)
    if mode == "fails":
        print("a traceback\nValueError: no idea", file=sys.stderr)
        sys.exit(3)
    if mode == "flood":
        sys.stdout.write("x" * 10_000_000)
        return
    if mode == "hungry":
        bytearray(4_000_000_000)
    if mode == "env":
        import os

        print(json.dumps({"answer": ",".join(sorted(os.environ))}))
        return
    question = json.load(sys.stdin)
    print("a line of some library")
    print(json.dumps({"answer": question["messages"][-1]["content"]}))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        command(sys.argv[1])
    else:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Peer)
        print(server.server_address[1], flush=True)
        server.serve_forever()
