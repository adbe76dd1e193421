"""Cassettes: what is found again for which call, and which files are refused, by line."""

import json
from pathlib import Path

import pytest

from gnomon_tools.servers.cassette import Cassette, CassetteError, RecordedCall, cassette_lines, open_cassette
from gnomon_tools.servers.listing import ListedTool, Listing
from gnomon_tools.servers.server_spec import McpServer, ToolServer

ADD = ListedTool(shown="plain__add", name="add", parameters={"type": "object", "properties": {}})
SERVER = ToolServer(
    mcp=McpServer(command=["plain-server"], env={"TOKEN": "secret"}), listing=Listing(tools=[ADD])
)


def recorded(result: str, **fields: object) -> RecordedCall:
    given = {
        "sample": "s1",
        "tool": "plain__add",
        "arguments": '{"a":1}',
        "n": 0,
        "model": "m",
        "arm": "tools",
    }
    return RecordedCall(**{**given, "repeat": 0, "under": "live", "result": result, **fields})  # type: ignore[arg-type]


def written(path: Path, *calls: RecordedCall, pictures: dict[str, bytes] | None = None) -> Path:
    lines = cassette_lines({"plain": SERVER}, calls, (pictures or {}).__getitem__, job="j")
    path.write_bytes(b"".join(lines))
    return path


def found(cassette: Cassette, **fields: object) -> str | None:
    asked = {"sample": "s1", "tool": "plain__add", "arguments": '{ "a": 1}', "under": "live", "model": "m"}
    call = cassette.find(**{**asked, "arm": "tools", "repeat": 0, "n": 0, **fields})  # type: ignore[arg-type]
    return call.result if call else None


def test_the_same_trial_comes_first_then_the_same_model_then_what_all_agree_on(tmp_path: Path) -> None:
    cassette = open_cassette(
        written(
            tmp_path / "c.jsonl",
            recorded("one"),
            recorded("two", n=1),
            recorded("other arm", arm="half"),
            recorded("other repeat", repeat=1),
            recorded("agreed", sample="s2"),
            recorded("agreed", sample="s2", model="n"),
            recorded("placebo", under="other_scene", injected="perturbed"),
        )
    )
    assert [found(cassette, n=n) for n in (0, 1)] == ["one", "two"]
    assert found(cassette, arm="half") == "other arm"
    assert found(cassette, repeat=1) == "other repeat"
    assert found(cassette, arm="new") is None  # two arms of that model were told differently
    assert found(cassette, model="new") is None
    assert found(cassette, sample="s2", model="new", arm="new", repeat=7, n=3) == "agreed"
    assert found(cassette, sample="s3") is None
    assert found(cassette, under="other_scene") == "placebo"


def test_values_of_variables_are_not_in_the_file_and_pictures_are_once(tmp_path: Path) -> None:
    import hashlib

    data = b"a picture"
    sha256 = hashlib.sha256(data).hexdigest()
    calls = [recorded("drawn", pictures=(sha256,)), recorded("drawn again", n=1, pictures=(sha256,))]
    path = written(tmp_path / "c.jsonl", *calls, pictures={sha256: data})
    assert "secret" not in path.read_text()
    assert path.read_text().count('"picture"') == 1
    assert open_cassette(path).picture(sha256) == data


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: lines[:-1], "its last line, the hash of all others, is missing"),
        (lambda lines: [lines[0], lines[1].replace("one", "won"), *lines[2:]], "line 3: the hash is not"),
        (lambda lines: [lines[0], "{", *lines[1:]], "line 2: it is not JSON"),
        (lambda lines: [lines[0], '{"sample": 3}', *lines[1:]], "line 2: sample: "),
        (lambda lines: ['{"a": 1}', *lines[1:]], "line 1: it is no header"),
        (lambda lines: [*lines, lines[1]], "line 4: there is more after the last line"),
        (lambda lines: [], "its last line"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(tmp_path: Path, change, words: str) -> None:
    path = written(tmp_path / "c.jsonl", recorded("one"))
    lines = change(path.read_text().splitlines())
    path.write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(CassetteError, match=words):
        open_cassette(path)


def test_a_cassette_that_is_absent_or_another_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", recorded("one"))
    frozen = open_cassette(path).sha256
    with pytest.raises(CassetteError, match="cannot be read"):
        open_cassette(tmp_path / "gone.jsonl")
    written(path, recorded("one"), recorded("two", n=1))
    with pytest.raises(CassetteError, match="not the cassette that the job was frozen with"):
        open_cassette(path, frozen)
    assert json.loads(path.read_text().splitlines()[-1])["calls"] == 2
