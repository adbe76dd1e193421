"""What a model is told of arguments that a tool does not take helps it to the right ones."""

import pytest

from gnomon_tools.core.tool import BadArguments
from gnomon_tools.core.toolbox import TOOLS
from gnomon_tools.servers.tool import argument_faults

HERE = {"camera": "c1"}
POINT = "camera, place, x_m, y_m, floor"


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        (
            "distance",
            {"start": HERE, "end": HERE, "to": 1},
            "to: there is no such argument; allowed: start, end",
        ),
        (
            "distance",
            {"start": {**HERE, "colour": 1}, "end": HERE},
            f"start.colour: there is no such argument; allowed: {POINT}",
        ),
        ("distance", {"start": HERE, "end": "c2"}, f"end: must be an object with: {POINT}"),
        ("distance", {"start": HERE}, "end: Field required"),
        ("list_cameras", {"x": 1}, "x: there is no such argument; allowed: none"),
        ("speed", {"distance_m": "3", "seconds": 1}, "distance_m: Input should be a valid number"),
        (
            "compose_poses",
            {"start": {"position_m": [0, 0, 0]}, "moves": [], "frame": "other"},
            "frame: Input should be 'own' or 'world'",
        ),
        (
            "interpolate",
            {"via": ["c1"] * 101},
            "via: List should have at most 20 items, not 101",
        ),
    ],
)
def test_an_argument_that_is_not_taken_is_told_with_what_is(tool, arguments, told):
    with pytest.raises(BadArguments) as refused:
        TOOLS.get(tool).read_args(arguments)
    assert told in str(refused.value)


def test_an_argument_that_a_server_does_not_take_is_told_with_those_that_it_does():
    schema = {"type": "object", "properties": {"city": {}, "day": {}}, "additionalProperties": False}
    [told] = argument_faults("weather", schema, {"town": "Oslo"})
    assert told.endswith("; allowed: city, day")
