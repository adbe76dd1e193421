"""The tools of a server as a toolbox runs them: what the sample fills in, pictures, structured results."""

import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.media import MediaStore
from gnomon_tools.core.clip import Picture, Pictures
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import Toolbox
from gnomon_tools.scene.format import read_scene
from gnomon_tools.servers.answer import Answer
from gnomon_tools.servers.connections import close_all
from gnomon_tools.servers.listing import ListedTool, Listing, shown_names
from gnomon_tools.servers.server_spec import McpServer, ToolServer
from gnomon_tools.servers.tool import argument_faults, server_tool

SERVER = Path(__file__).with_name("plain_server.py")
SCENE = Path(__file__).parents[3] / "examples" / "scenes" / "small.geojson"
PATH = {"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}}
READ = ListedTool(shown="plain__read_file", name="read.file", parameters={**PATH, "required": ["path"]})


@pytest.fixture
def media(tmp_path: Path) -> Iterator[MediaStore]:
    yield MediaStore(tmp_path / "media")
    close_all()


def picture(media: MediaStore, colour: str = "red") -> Picture:
    from io import BytesIO

    from PIL import Image

    buffer = BytesIO()
    Image.new("RGB", (4, 4), colour).save(buffer, "PNG")
    kept = media.put(buffer.getvalue())
    return Picture(sha256=kept.sha256, media_type=kept.media_type, width=4, height=4)


def tool_with(**fill: str):
    server = ToolServer(mcp=McpServer(command=[sys.executable, str(SERVER)]), fill=fill)
    return server_tool("plain", server, READ)


def test_a_filled_argument_is_hidden_from_the_model_and_read_by_the_server(media: MediaStore) -> None:
    tool = tool_with(path="$scene_path")
    assert tool.schema()["function"]["parameters"]["properties"] == {"n": {"type": "integer"}}
    assert tool.schema()["function"]["parameters"]["required"] == []
    context = ToolContext(inputs=held(read_scene(SCENE)), media=media)
    answer = Toolbox([tool], context).call("plain__read_file", "{}")
    assert json.loads(answer.content)["type"] == "FeatureCollection"
    assert Toolbox([tool], context).call("plain__read_file", '{"path": "/x"}').error is None


def test_a_tool_that_needs_a_scene_or_a_picture_is_offered_only_where_there_is_one(media: MediaStore) -> None:
    bare, red = ToolContext(inputs=held(read_scene(SCENE))), picture(media)
    with_picture = ToolContext(
        inputs=held(read_scene(SCENE), Pictures(listed=(red,))), media=media, sample_id="s1"
    )
    for fill, offered in (("$picture", 0), ("$scene", 1), ("$sample_id", 1), ("$clip_path", 0)):
        assert len(Toolbox([tool_with(path=fill)], bare).schemas) == offered
    assert len(Toolbox([tool_with(path="$pictures")], with_picture).schemas) == 1
    filled = tool_with(path="$pictures").filled(with_picture, {})
    assert len(filled["path"]) == 1
    assert tool_with(path="$sample_id").filled(with_picture, {"n": 1}) == {"n": 1, "path": "s1"}


def test_pictures_of_a_result_are_kept_and_broken_extras_of_a_png_are_left_out(media: MediaStore) -> None:
    context = ToolContext(inputs=held(read_scene(SCENE)), media=media)
    data = media.read(picture(media).sha256)
    extra = b"iCCP" + b"not a profile"
    assert zlib.crc32(extra) != 7
    chunk = (len(extra) - 4).to_bytes(4) + extra + (7).to_bytes(4)
    broken = data[:33] + chunk + data[33:]
    result = tool_with().result_of(Answer(texts=["here"], pictures=[broken, b"no picture"]), context)
    assert [kept.sha256 for kept in result.pictures] == [picture(media).sha256]
    assert result.text == "here\n[a picture that cannot be read]"


def test_a_schema_runs_no_regular_expression_and_fetches_no_reference() -> None:
    slow = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    assert argument_faults("t", slow, {"a": "a" * 60 + "!"}) == []
    named_pattern = {"properties": {"pattern": {"type": "string"}}}
    assert argument_faults("t", named_pattern, {"pattern": 3}) == ["pattern: 3 is not of type 'string'"]
    far = {"properties": {"a": {"$ref": "http://192.0.2.1/schema.json"}}}
    assert argument_faults("t", far, {"a": 1}) == []


def test_names_are_those_that_every_provider_takes() -> None:
    names = shown_names("git", ["status", "log.all", "x" * 200, "log/all"])
    assert len(set(names.values())) == 4
    assert all(len(shown) <= 64 and "." not in shown and "/" not in shown for shown in names.values())


def test_a_listing_tells_which_of_its_tools_have_changed() -> None:
    other = READ.model_copy(update={"description": "other"})
    assert Listing(tools=[READ]).changes(Listing(tools=[READ])) == []
    assert Listing(tools=[READ]).changes(Listing(tools=[other])) == ["read.file"]
    assert Listing(tools=[READ]).changes(Listing(tools=[])) == ["read.file"]
    assert Listing(tools=[READ]).sha256 != Listing(tools=[other]).sha256


def test_a_schema_whose_references_double_at_every_step_ends() -> None:
    steps = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**steps, "d60": {"type": "object"}}}
    assert argument_faults("t", schema, {"a": 1}) == []
    assert argument_faults("t", {"properties": {"a": {"type": "string"}}}, {"a": 1})
