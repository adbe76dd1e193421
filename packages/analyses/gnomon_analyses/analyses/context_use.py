"""Labels whether a model's reasoning uses place, time and motion: GTR-Bench's context utilisation."""

from gnomon_analyses.kinds import LabelledByJudge

context_use = LabelledByJudge(
    name="context_use",
    description="GTR-Bench: whether the reasoning uses each camera's location, times, and the motion seen.",
    benchmarks=("gtr-bench", "worlds"),
    labels={
        "location": "It uses where cameras or targets are: coordinates, map, distances, roads, floors.",
        "time": "It uses when targets are seen: clock times, durations, intervals.",
        "motion": "It uses how targets move: heading, speed, turning, stopping.",
    },
    only_wrong=False,
    left_out={"CausalReordering": ("time",)},  # its questions give no times
)
