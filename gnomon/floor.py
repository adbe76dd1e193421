"""Floor: what a rule without a model scores on a question, from benchmarks that know such rules."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from gnomon.core.sample import Sample

PREFIX = "floor: "  # of the metrics that hold them, in every row


@runtime_checkable
class HasHeuristics(Protocol):
    """A benchmark whose questions have regularities: the nearest camera, the option most like the others."""

    def heuristic_scores(self, sample: Sample) -> Mapping[str, float]:
        """What each rule that applies to the sample scores on it, by its name."""
        ...
