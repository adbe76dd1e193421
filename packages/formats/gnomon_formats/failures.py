"""Knows the texts that other harnesses write in place of a reply when a request has failed."""

import re

# VLMEvalKit: "Failed to obtain answer via API." and its variants; lmms-eval: "[LMMS_EVAL_REQUEST_FAILED …".
_FAILED = re.compile(r"\W*(?:fail(?:ed)? to obtain (?:an? )?answer|LMMS_EVAL_REQUEST_FAILED)", re.IGNORECASE)
# What VLMEvalKit logs where its judge gave nothing: the score is then drawn or made up.
_JUDGE_FAILED = re.compile(
    r"fail(?:ed)? to obtain answer|failed to predict, thus randomly|all \d+ retries failed", re.IGNORECASE
)


def is_failure(reply: str) -> bool:
    """Whether a harness wrote this because nothing came from the model.

    >>> is_failure("Failed to obtain answer via API. "), is_failure("They failed to obtain answer A.")
    (True, False)
    """
    return bool(_FAILED.match(reply))


def is_judge_failure(log: str) -> bool:
    """Whether what VLMEvalKit logged of a score says that nothing came from the judge.

    >>> is_judge_failure("Match Log: Failed to predict, thus randomly generate one. . ")
    True
    """
    return bool(_JUDGE_FAILED.search(log))
