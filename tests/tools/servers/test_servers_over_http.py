"""MCP servers over streamable HTTP: answers as servers should give them, and as they should not."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gnomon_tools.core.outage import ServerFault
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import Observation, Toolbox
from gnomon_tools.servers.connections import close_all, connections
from gnomon_tools.servers.server_spec import McpServer, ServerLimits, ToolServer
from gnomon_tools.servers.tool import server_tool

NUMBER = {"type": "number"}
ADD = {
    "name": "add",
    "description": "Add two numbers.",
    "inputSchema": {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}},
}
INFO = {"name": "web", "version": "1"}


class _Server(BaseHTTPRequestHandler):
    """A server that behaves as the path of its address says, when its tool is called."""

    protocol_version = "HTTP/1.1"

    def _send(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self._send(405)

    def do_DELETE(self) -> None:
        self._send(200)

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        mode, number, method = self.path.strip("/"), message.get("id"), message.get("method")
        if number is None:
            return self._send(202)
        result: dict = {"content": [{"type": "text", "text": "3"}]}
        if method == "initialize":
            if mode == "redirect":
                return self._send(307, Location="http://127.0.0.1:1/elsewhere")
            version = message["params"]["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": INFO}
        elif method == "tools/list":
            result = {"tools": [ADD]}
        elif method != "tools/call":
            error = {"code": -32601, "message": "no such method"}
            answer = {"jsonrpc": "2.0", "id": number, "error": error}
            return self._send(200, json.dumps(answer).encode(), Content_Type="application/json")
        elif mode.isdigit():
            return self._send(int(mode))
        elif mode == "hang":
            threading.Event().wait(5)
        elif mode == "json":
            return self._send(200, b"{nope", Content_Type="application/json")
        elif mode == "packed":
            return self._send(200, b"\x1f\x8b", Content_Type="application/json", Content_Encoding="gzip")
        elif mode == "big":
            result = {"content": [{"type": "text", "text": "x" * 1_000_000}]}
        answer = {"jsonrpc": "2.0", "id": number, "result": result}
        headers = {"Content_Type": "application/json", "Mcp_Session_Id": "s"}
        return self._send(200, json.dumps(answer).encode(), **headers)

    def log_message(self, *_: object) -> None:
        return None


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Server) as http:
        http.daemon_threads = True
        http.block_on_close = False
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}"
        close_all()
        http.shutdown()


@pytest.fixture
def call(address: str):
    def run(mode: str) -> Observation:
        limits = ServerLimits(call_seconds=0.5 if mode == "hang" else 20)
        server = ToolServer(mcp=McpServer(url=f"{address}/{mode}"), limits=limits)
        listing = connections().list_tools("web", server)
        tool = server_tool("web", server.model_copy(update={"listing": listing}), listing.tools[0])
        return Toolbox([tool], ToolContext()).call(tool.name, '{"a": 1, "b": 2}')

    return run


def test_a_good_server_answers_and_a_long_answer_is_cut(call) -> None:
    assert call("good").content == "3"
    assert call("big").content.endswith("[cut: 50,000 of 1,000,000 bytes]")


@pytest.mark.parametrize("mode", ["404", "429", "500", "202", "json", "packed"])
def test_what_is_no_answer_is_the_servers_fault_and_not_a_result_of_its_tool(call, mode: str) -> None:
    with pytest.raises(ServerFault) as fault:
        call(mode)
    assert fault.value.stop_reason == "server:died"


def test_a_redirect_is_not_followed(call) -> None:
    with pytest.raises(ServerFault, match="not followed") as fault:
        call("redirect")
    assert fault.value.stop_reason == "server:start"


def test_a_call_that_hangs_is_a_timeout(call) -> None:
    assert call("hang").error == "timeout"
