"""Labels wrong trials by GTR-Bench's seven error categories."""

from gnomon_analyses.kinds import LabelledByJudge

gtr_errors = LabelledByJudge(
    name="gtr_errors",
    description="GTR-Bench: which of seven kinds of error led to a wrong answer.",
    benchmarks=("gtr-bench", "worlds"),
    labels={
        "topology": "It ignores what binds movement: one-way roads, walls, stairs, missing links.",
        "fov_alignment": "It takes a camera's place for its view, or maps the view wrongly.",
        "time_interval": "It misjudges distance or speed, and so a duration or a time of arrival.",
        "motion_state": "It turns a movement seen in the picture into the wrong one on the map.",
        "information_bias": "It leans on one kind of evidence (place, time, motion), neglecting another.",
        "step_jump": "It leaps from what it observes to the conclusion; a needed step between is missing.",
        "inconsistency": "Its statements contradict each other, or the answer the reasoning.",
    },
    only_wrong=True,
)
