"""Ending: what a command's exit code says about a job."""

from service.cli.main import DONE, INCOMPLETE


def exit_code(status: str, *, missing: int) -> int:
    """0 where every planned trial has an outcome that counts, else 1.

    >>> exit_code("completed", missing=0), exit_code("completed", missing=3)
    (0, 1)
    """
    return DONE if status == "completed" and missing == 0 else INCOMPLETE
