"""Tools served by MCP, met by the official client in each of its modes."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from gnomon_tools.core.clip import Picture
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Observation
from gnomon_tools.scene.format import read_scene
from gnomon_workbench.mcp_server.offer import Offer, server_of
from gnomon_workbench.mcp_server.scenes import ServedScene, answer_of, scene_resources, scene_tools
from gnomon_workbench.mcp_server.serve import (
    Endpoint,
    ServedAnswer,
    ServedPicture,
    ServedTool,
    served_over_http,
)

SCENES = Path(__file__).parents[3] / "examples" / "scenes"
MODES = ("auto", "legacy", "2026-07-28")
PNG = b"\x89PNG bytes"


def schema(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
    function = {"name": name, "description": f"about {name}", "parameters": parameters}
    return {"type": "function", "function": function}


async def echo(arguments: dict[str, Any]) -> ServedAnswer:
    return ServedAnswer(
        text=json.dumps(arguments),
        value=arguments,
        pictures=[ServedPicture(data=PNG, media_type="image/png")],
    )


async def refuse(_: dict[str, Any]) -> ServedAnswer:
    return ServedAnswer(text='{"error": "x: too large"}', is_error=True)


async def crash(_: dict[str, Any]) -> ServedAnswer:
    raise ZeroDivisionError("a secret detail")


OFFER = Offer(
    tools=[
        ServedTool(schema=schema(name), call=call)
        for name, call in (("echo", echo), ("refuse", refuse), ("crash", crash))
    ]
)


@asynccontextmanager
async def client_of(endpoint: Endpoint, mode: Any) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=endpoint.headers) as http,
        Client(streamable_http_client(endpoint.url, http_client=http), mode=mode) as client,
    ):
        yield client


async def test_each_mode_of_the_client_lists_and_calls_the_tools_of_a_trial() -> None:
    async with served_over_http(OFFER) as endpoint:
        for mode in MODES:
            async with client_of(endpoint, mode) as client:
                listed = (await client.list_tools()).tools
                assert [tool.name for tool in listed] == ["echo", "refuse", "crash"]
                assert listed[0].input_schema == schema("echo")["function"]["parameters"]
                assert listed[0].annotations is not None
                assert listed[0].annotations.read_only_hint is True
                result = await client.call_tool("echo", {"x": 1.5})
                text, picture = result.content
                assert (text.type, picture.type) == ("text", "image")
                assert (result.structured_content, result.is_error) == ({"x": 1.5}, False)


async def test_failures_are_results_that_the_model_reads(caplog: pytest.LogCaptureFixture) -> None:
    async with served_over_http(OFFER) as endpoint, client_of(endpoint, "auto") as client:
        for name, words in (
            ("refuse", "x: too large"),
            ("crash", "The tool failed inside: ZeroDivisionError."),
            ("fly", "There is no tool 'fly'. Tools: echo, refuse, crash."),
        ):
            result = await client.call_tool(name, {"x": 1})
            assert result.is_error
            assert result.structured_content is None
            assert json.loads(result.content[0].text) == {"error": words}  # type: ignore[union-attr]
    assert "a secret detail" in caplog.text  # for us, not for the client


async def test_calls_of_unknown_tools_reach_the_one_who_counts_them() -> None:
    met: list[tuple[str, object]] = []

    async def unknown(name: str, arguments: dict[str, Any]) -> ServedAnswer:
        met.append((name, arguments))
        return ServedAnswer(text="no", is_error=True)

    async with Client(server_of(Offer(tools=(), unknown=unknown))) as client:
        assert (await client.call_tool("fly", {"to": "moon"})).is_error
    assert met == [("fly", {"to": "moon"})]


async def test_calls_of_one_client_overlap() -> None:
    both = asyncio.Barrier(2)

    async def meet(_: dict[str, Any]) -> ServedAnswer:
        async with asyncio.timeout(20):
            await both.wait()
        return ServedAnswer(text="met")

    offer = Offer(tools=[ServedTool(schema=schema("meet"), call=meet)])
    async with served_over_http(offer) as endpoint, client_of(endpoint, "auto") as client:
        results = await asyncio.gather(*(client.call_tool("meet", {"x": 1}) for _ in range(2)))
    assert [result.content[0].text for result in results] == ["met", "met"]  # type: ignore[union-attr]


async def test_a_request_without_the_token_or_from_elsewhere_is_refused() -> None:
    async with served_over_http(OFFER) as endpoint, httpx2.AsyncClient() as http:
        other = {"Authorization": "Bearer of-another-trial"}
        for headers, status in (
            ({}, 401),
            (other, 401),
            ({**endpoint.headers, "Origin": "http://evil.example"}, 403),
            ({**endpoint.headers, "Host": "evil.example"}, 421),
        ):
            assert (await http.post(endpoint.url, json={}, headers=headers)).status_code == status
    async with httpx2.AsyncClient() as http:
        with pytest.raises(httpx2.ConnectError):
            await http.post(endpoint.url, json={})


def scene(name: str) -> ServedScene:
    context = ToolContext(inputs=held(read_scene(SCENES / f"{name}.geojson")), is_free=True)
    text = (SCENES / f"{name}.geojson").read_text()
    return ServedScene(name=name, title=name, context=context, text=lambda: text)


async def test_every_example_gives_a_result_that_fits_the_schema_of_its_tool() -> None:
    """The client checks each result by the listed schema."""
    tools = scene_tools(TOOLS, [scene("small")])
    called = 0
    async with Client(server_of(Offer(tools=tools))) as client:
        for tool in (await client.list_tools()).tools:
            assert tool.output_schema is not None
            example = TOOLS.get(tool.name).example
            if example:
                result = await client.call_tool(tool.name, dict(example))
                assert not result.is_error, (tool.name, result.content)
                called += 1
    assert called >= 15


async def test_a_call_says_which_scene_where_there_are_several() -> None:
    scenes = [scene("small"), scene("floors")]
    offer = Offer(tools=scene_tools(TOOLS, scenes), resources=scene_resources(scenes))
    async with Client(server_of(offer)) as client:
        by_name = {tool.name: tool for tool in (await client.list_tools()).tools}
        field = by_name["list_cameras"].input_schema
        assert field["properties"]["scene"]["enum"] == ["small", "floors"]
        assert "scene" in field["required"]
        assert "scene" not in by_name["pinhole"].input_schema["properties"]  # it needs none
        assert "scene" not in TOOLS.get("list_cameras").schema()["function"]["parameters"]["properties"]
        here = await client.call_tool("list_cameras", {"scene": "floors"})
        assert not here.is_error
        without = await client.call_tool("list_cameras", {})
        assert without.is_error
        assert "must be one of small, floors" in without.content[0].text  # type: ignore[union-attr]
        assert [item.uri for item in (await client.list_resources()).resources] == [
            "scene://small",
            "scene://floors",
        ]
        read = await client.read_resource("scene://floors")
        assert json.loads(read.contents[0].text)["gnomon"]["id"] == "floors"  # type: ignore[union-attr]


def test_tools_that_fit_no_scene_are_not_offered() -> None:
    names = {tool.name for tool in scene_tools(TOOLS, [scene("small")])}
    assert {"distance", "pinhole", "lies_in"} <= names
    assert not names & {"plan_trip", "look_closer", "sandbox_check", "map_place"}


def test_pictures_of_a_result_are_served_as_bytes() -> None:
    class Media:
        def read(self, sha256: str) -> bytes:
            return sha256.encode()

    picture = Picture(sha256="abc", media_type="image/jpeg", width=1, height=1)
    observation = Observation(content='{"time_s": 1}', pictures=(picture,))
    answer = answer_of(observation, ToolContext(media=Media()))
    assert [(one.data, one.media_type) for one in answer.pictures] == [(b"abc", "image/jpeg")]
