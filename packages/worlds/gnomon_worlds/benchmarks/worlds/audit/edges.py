"""Counts questions whose truth depends on how edges of views and ends of stairs are taken."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from gnomon.core.sample import Sample
from gnomon_worlds.attainable import ON_EDGE_M, SAME_S, is_clear
from gnomon_worlds.drawing import Drawn, draw
from gnomon_worlds.sample_numbers import number_of


def remarks(samples: Sequence[Sample]) -> Iterator[str]:
    """How many questions of each scene rest on such a stay, and which; nothing where none does."""
    by_scene: dict[str, dict[str, Drawn]] = defaultdict(dict)
    for sample in samples:
        number = number_of(sample.ref.sample_id)
        by_scene[number.scene][number.sample_id] = draw(number)
    for scene, drawn in sorted(by_scene.items()):
        unclear = [
            name for name, its in drawn.items() if not is_clear(its.world, its.question, edge_m=ON_EDGE_M)
        ]
        if unclear:
            yield (
                f"{len(unclear)} of {len(drawn)} {scene} questions rest on a stay in view that begins or "
                f"ends where stairs do (to {SAME_S:g} s) or runs along the view's edge (to {ON_EDGE_M:g} m); "
                f"stairs count as out of view, the edge as in view: {', '.join(unclear)}."
            )
