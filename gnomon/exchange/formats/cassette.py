"""The calls of tool servers with their results, which an arm can replay."""

from gnomon.exchange.cassette_write import files
from gnomon.exchange.format import LINES, Format

cassette = Format(
    name="cassette",
    about="cassette.jsonl, the calls of tool servers with their results",
    files=files,
    media_type=LINES,
    is_single=True,
    is_of=lambda start: "gnomon_cassette" in start.fields,
    unread="this is a cassette: an arm replays it, `cassette: {replay: FILE}`",
)
