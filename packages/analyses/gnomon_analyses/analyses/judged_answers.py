"""Lets a judge model say whether replies are right, and compares it with the scorer and with labels.

The right answer, a row's `rubric` and the reply are all that a judge gets: not the trace, the arm or the
score. The main statistics stay those of the scorer. How far the judge agrees with it is Cohen's kappa over
the same trials; with rows that hold a `reply` and its `label`, how far it agrees with people.
"""

from gnomon_analyses.kinds import LabelledByJudge

judged_answers = LabelledByJudge(
    name="judged_answers",
    description="Own questions: whether a reply is right, by a judge that is shown the right answer.",
    benchmarks=("questions",),
    labels={
        "right": "The reply's final answer means the same as the right answer, by the rubric if there is one."
    },
    only_wrong=False,
    least=5,
    shows_truth=True,
)
