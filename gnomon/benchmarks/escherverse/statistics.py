"""Statistics as the released evaluators print them: shares by category, scene and question type."""

from collections.abc import Mapping, Sequence
from typing import Any

_DIMENSIONS = {"by_category": "category", "by_scene_type": "scene_type", "by_question_type": "question_type"}


def statistics_of(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts and mean scores of results with `score`, `is_correct` (None: an error) and the three labels.

    >>> statistics_of([{"score": 0.5, "is_correct": False}])["accuracy"]
    0.5
    """
    scores = [item.get("score", 0.0) for item in results]
    judged = [
        score for item, score in zip(results, scores, strict=True) if item.get("is_correct") is not None
    ]
    return {
        "total": len(results),
        "correct": sum(score == 1.0 for score in judged),
        "partial_correct": sum(0.0 < score < 1.0 for score in judged),
        "incorrect": sum(score <= 0.0 for score in judged),
        "error": len(results) - len(judged),
        "total_score": sum(scores, 0.0),
        "accuracy": sum(scores, 0.0) / len(scores) if scores else 0.0,
        **{name: _shares(results, label) for name, label in _DIMENSIONS.items()},
    }


def _shares(results: Sequence[Mapping[str, Any]], label: str) -> dict[str, dict[str, float]]:
    groups: dict[str, list[float]] = {}
    for item in results:
        groups.setdefault(item.get(label, "Unknown"), []).append(item.get("score", 0.0))
    return {
        name: {"total": len(scores), "score": sum(scores, 0.0), "accuracy": sum(scores, 0.0) / len(scores)}
        for name, scores in groups.items()
    }
