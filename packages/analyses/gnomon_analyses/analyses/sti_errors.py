"""Labels wrong trials by STI-Bench's three error patterns."""

from gnomon_analyses.kinds import LabelledByJudge

sti_errors = LabelledByJudge(
    name="sti_errors",
    description="STI-Bench: which of three patterns of error led to a wrong answer.",
    benchmarks=("sti-bench",),
    labels={
        "spatial_quantification": "It estimates a size, a distance or a position in space wrongly.",
        "temporal_dynamics": "It misreads change over time: displacement, speed, turning, whose motion.",
        "cross_modal_grounding": "It ties words, times or numbers to the wrong part of the video.",
    },
    only_wrong=True,
)
