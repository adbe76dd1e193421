"""A store that a test may break from outside, whatever process it lives in."""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from gnomon_workers.store import Store


@dataclass(frozen=True)
class Breakage:
    """What is broken in the stores of all processes that share `folder`: numbers in files, 0 where absent."""

    folder: Path

    def set(self, **values: float) -> None:
        """Break by `lost_answers` (a share of all commits) or `clock_jump_s`; 0 mends."""
        for name, value in values.items():
            new = self.folder / f"{name}.new"
            new.write_text(str(value))
            new.rename(self.folder / name)

    def get(self, name: str) -> float:
        try:
            return float((self.folder / name).read_text())
        except FileNotFoundError:
            return 0.0


class BrokenStore(Store):
    """Some of its commits succeed and are reported as failed, others fail before; its clock may jump."""

    def __init__(self, url: str, breakage: Breakage) -> None:
        self._breakage = breakage
        jumps = url.startswith("sqlite")  # PostgreSQL has a clock of its own
        super().__init__(url, clock=self._jumping if jumps else None)

    @contextmanager
    def writing(self, on: Connection | None = None) -> Iterator[Connection]:
        share = self._breakage.get("lost_answers")
        dice = random.random()
        with super().writing(on) as db:
            yield db
            if dice < share / 2:
                raise _lost("before the commit")
        if dice < share:
            raise _lost("after the commit")

    def _jumping(self) -> float:
        return time.time() + self._breakage.get("clock_jump_s")


def _lost(when: str) -> OperationalError:
    return OperationalError("COMMIT", None, Exception(f"the connection was lost {when}"))
