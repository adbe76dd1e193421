"""Generated worlds as scenes that tools can be called on."""

import functools

from gnomon.core.errors import GnomonError
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.scene.scene import Scene
from gnomon_workbench.offering import InputSource, Offering, OpenedInput

KEYS = ("w0-00000", "w0-00001", "w0-00002", "w0-00003")  # two streets and two buildings take turns


@functools.lru_cache(maxsize=16)
def _open(key: str) -> OpenedInput | None:
    from gnomon_worlds.sample_making import draw  # late: with SciPy
    from gnomon_worlds.sample_numbers import number_of

    try:
        scene = draw(number_of(key)).world.scene
    except GnomonError:
        return None
    return OpenedInput(f"generated world {key}", ToolContext(inputs=held(scene), is_free=True))


worlds = Offering(
    name="worlds",
    description="Generated worlds as scenes.",
    inputs=(
        InputSource(
            kind=Scene,
            choices={key: f"generated world {key}" for key in KEYS},
            open=_open,
            more="wSEED-NUMBER",
        ),
    ),
)
