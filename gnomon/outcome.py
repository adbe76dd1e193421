"""Outcome: how a trial ended, from the one question that matters: whose fault was it."""

from enum import StrEnum


class Outcome(StrEnum):
    """Every trial ends as exactly one of these."""

    SCORED = "scored"
    MODEL_FAILED = "model_failed"  # counts as wrong
    INFRA_MISSING = "infra_missing"  # ours or the provider's: never a wrong answer
