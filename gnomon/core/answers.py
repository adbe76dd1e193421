"""The answers to a question with follow-ups as one response: what is stored, scored and scored again."""

import json
from collections.abc import Sequence

from gnomon_tools.core.json_text import json_value


def joined_answers(answers: Sequence[str]) -> str:
    """The answers to all turns as one text.

    >>> joined_answers(["A", "B"])
    '{"answers": ["A", "B"]}'
    """
    return json.dumps({"answers": list(answers)}, ensure_ascii=False)


def answers_of(response: str) -> list[str]:
    """The answers in a response; one that is not joined is the answer to the last turn alone.

    >>> answers_of('{"answers": ["A", "B"]}'), answers_of("B")
    (['A', 'B'], ['B'])
    """
    value = json_value(response)
    answers = value.get("answers") if isinstance(value, dict) and len(value) == 1 else None
    is_joined = isinstance(answers, list) and all(isinstance(answer, str) for answer in answers)
    return list(answers) if is_joined and answers else [response]
