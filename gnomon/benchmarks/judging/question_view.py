"""Shows a person a case for a judge: the question, the trace and the labels; and which labels were given."""

import re
from collections.abc import Mapping

from gnomon.analyses.core.kinds import LabelledByJudge
from gnomon.core.question_view import Option, QuestionView
from gnomon.core.sample import Sample

_TAGGED = re.compile(r"<(question|trace)>\n(.*?)\n</\1>", re.DOTALL)


def question_view(sample: Sample, analysis: LabelledByJudge) -> QuestionView:
    """Which labels hold of a trace; no truth is known beforehand."""
    names = sample.target["labels"]
    prompt = "".join(part.content for part in sample.parts if isinstance(part.content, str))
    tagged = dict(_TAGGED.findall(prompt))
    about = "how the model came to its wrong answer" if analysis.only_wrong else "what its reasoning rests on"
    return QuestionView(
        question=f"Which labels hold of this trace: {about}?",
        options=tuple(Option(letter=name, text=analysis.labels[name]) for name in names),
        facts={name.capitalize(): text for name, text in tagged.items()},
    )


def verdict_in_words(sample: Sample, metrics: Mapping[str, float | str | None]) -> str:
    """Which labels the judge gave."""
    names = sample.target["labels"]
    holding = [name for name in names if metrics.get(name) == 1.0]
    return f"{len(holding)} of {len(names)} labels hold{': ' if holding else ''}{', '.join(holding)}."
