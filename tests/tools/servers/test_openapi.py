"""Interfaces that an OpenAPI document describes: operations as tools, requests, answers, what is refused."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gnomon_tools.core.outage import ServerFault
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import Toolbox
from gnomon_tools.servers.connections import close_all, connections
from gnomon_tools.servers.listing import Listing
from gnomon_tools.servers.openapi_document import DocumentError, parse_document, read_listing
from gnomon_tools.servers.server_spec import OpenApiServer, ServerLimits, ToolServer
from gnomon_tools.servers.tool import server_tool

PLACE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "next": {"$ref": "#/components/schemas/P"}},
}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Ways", "version": "2"},
    "paths": {
        "/way/{to}": {
            "parameters": [{"name": "to", "in": "path", "required": True, "schema": {"type": "string"}}],
            "get": {
                "operationId": "way",
                "summary": "The way to a place.",
                "parameters": [
                    {"name": "by", "in": "query", "schema": {"enum": ["foot", "bus"]}},
                    {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
                ],
            },
            "delete": {"operationId": "forget"},
        },
        "/places": {
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/P"}}},
                }
            }
        },
    },
    "components": {"schemas": {"P": PLACE}},
}


class _Ways(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path.startswith("/slow"):
            threading.Event().wait(5)
        status, body = (200, {"asked": self.path}) if "nowhere" not in self.path else (404, {"no": "way"})
        data = json.dumps(body).encode()
        self.send_response(status)
        if "packed" in self.path:
            data = gzip.compress(data)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return None


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ToolServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Ways) as http:
        http.daemon_threads = True
        http.block_on_close = False
        threading.Thread(target=http.serve_forever, daemon=True).start()
        document = tmp_path / "ways.json"
        document.write_text(json.dumps(DOCUMENT))
        url = f"http://127.0.0.1:{http.server_port}"
        yield ToolServer(
            openapi=OpenApiServer(document=str(document), url=url), limits=ServerLimits(call_seconds=10)
        )
        close_all()
        http.shutdown()


def test_an_operation_is_a_tool_and_its_answer_a_result(server: ToolServer) -> None:
    listing = connections().list_tools("ways", server)
    assert [tool.shown for tool in listing.tools] == ["ways__way"]
    frozen = server.model_copy(update={"listing": listing})
    box = Toolbox([server_tool("ways", frozen, listing.tools[0])], ToolContext())
    parameters = box.schemas[0]["function"]["parameters"]
    assert (sorted(parameters["properties"]), parameters["required"]) == (["by", "to"], ["to"])
    found = box.call("ways__way", '{"to": "the square/2", "by": "foot"}')
    assert json.loads(found.content) == {"asked": "/way/the%20square%2F2?by=foot"}
    assert box.call("ways__way", '{"to": "x", "by": "car"}').error == "bad_arguments"
    lost = box.call("ways__way", '{"to": "nowhere"}')
    assert (lost.error, "HTTP 404" in lost.content) == ("tool_error", True)


def test_a_host_that_does_not_answer_is_no_fault_of_the_model(server: ToolServer) -> None:
    listing = connections().list_tools("ways", server)
    away = server.model_copy(
        update={"openapi": server.openapi.model_copy(update={"url": "http://127.0.0.1:9"}), "listing": None}
    )
    box = Toolbox([server_tool("ways", away, listing.tools[0])], ToolContext())
    with pytest.raises(ServerFault) as fault:
        box.call("ways__way", '{"to": "x"}')
    assert fault.value.stop_reason == "server:died"


def test_what_writes_is_offered_only_where_that_is_wanted_and_references_may_go_round() -> None:
    listing = read_listing("w", DOCUMENT, url="http://h", source="f.json", writes=True)
    assert [tool.shown for tool in listing.tools] == ["w__forget", "w__post_places", "w__way"]
    body = listing.tools[1].parameters["properties"]["body"]
    assert body["properties"]["name"] == {"type": "string"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"{", "is neither JSON nor YAML"),
        (b'{"swagger": "2.0"}', "is no OpenAPI 3 document"),
        (b"a: &x [1]\nb: *x", "has aliases"),
    ],
)
def test_what_is_no_document_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(DocumentError, match=words):
        parse_document(data)


def test_a_document_without_an_address_needs_a_url() -> None:
    with pytest.raises(DocumentError, match="write it as `url`"):
        read_listing("w", DOCUMENT, url=None, source="f.json", writes=False)


def test_deep_chained_and_endless_documents_are_refused_by_name() -> None:
    def listing(schema: dict, **more: object) -> Listing:
        operation = {"parameters": [{"name": "a", "in": "query", "schema": schema}]}
        document = {"openapi": "3.1.0", "paths": {"/a": {"get": operation}}, **more}
        return read_listing("api", document, url="http://h", source="f", writes=False)

    deep: dict = {}
    for _ in range(400):
        deep = {"items": deep}
    with pytest.raises(DocumentError, match="100 levels deep"):
        listing(deep)
    chain = {f"s{n}": {"$ref": f"#/components/schemas/s{n + 1}"} for n in range(2_000)}
    with pytest.raises(DocumentError, match="100 levels deep"):
        listing({"$ref": "#/components/schemas/s0"}, components={"schemas": chain})
    many = {"openapi": "3.1.0", "paths": {f"/{n}": {"get": {}} for n in range(1_001)}}
    with pytest.raises(DocumentError, match="more than 1,000 operations"):
        read_listing("api", many, url="http://h", source="f", writes=False)


def test_a_path_that_would_lead_to_another_host_is_no_operation() -> None:
    document = {"openapi": "3.1.0", "paths": {"@elsewhere.example/": {"get": {}}, "/here": {"get": {}}}}
    listing = read_listing("api", document, url="http://h", source="f", writes=False)
    assert [tool.name for tool in listing.tools] == ["get_here"]


@pytest.mark.parametrize("to", ["x" * 100_000, "\ud800", "a\r\nb\x00"])
def test_arguments_that_make_no_request_are_the_models_own_fault(server: ToolServer, to: str) -> None:
    listed = connections().list_tools("ways", server)
    tool = server_tool("ways", server.model_copy(update={"listing": listed}), listed.tools[0])
    observation = Toolbox([tool], ToolContext()).call(tool.name, json.dumps({"to": to}))
    assert observation.error in ("tool_error", "bad_arguments", None)
    assert (observation.error is None) == to.startswith("a")


def test_a_packed_answer_is_not_unfolded(server: ToolServer) -> None:
    listed = connections().list_tools("ways", server)
    tool = server_tool("ways", server.model_copy(update={"listing": listed}), listed.tools[0])
    with pytest.raises(ServerFault, match="packed"):
        Toolbox([tool], ToolContext()).call(tool.name, '{"to": "packed"}')
