"""Stage: runs store operations in threads, one statement at a time, in an order that the test chooses.

Each actor stops before every transaction (SQLite, whose writing transactions stand alone) or before every
statement and commit (PostgreSQL). One actor runs at a time; one that waits for a lock of the database is left
waiting while others go on. What an actor does between two stops is a step.
"""

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, event, text

from gnomon_workers.store import Store

Choose = Callable[[Sequence[str]], str]
PATIENCE_S = 20.0
LOOK_S = 0.002


class Killed(BaseException):
    """The actor's process died: what it had not committed is gone."""


@dataclass
class Actor:
    """Operations that one process does one after another."""

    name: str
    operations: Sequence[Callable[[], None]]
    may_die: bool = False
    looks_first: bool = False  # does something that counts before its first statement, such as read the clock
    go: threading.Event = field(default_factory=threading.Event)
    state: str = "new"  # new, ready, running, blocked, ended
    dies: bool = False
    error: BaseException | None = None
    thread: threading.Thread | None = None


class Stage:
    """The actors of one play, and who of them has the floor."""

    def __init__(self, store: Store, actors: Sequence[Actor]) -> None:
        self._store, self.actors = store, {actor.name: actor for actor in actors}
        self._changed = threading.Condition()
        self._by_thread: dict[int, Actor] = {}
        self._is_sqlite = store.url.startswith("sqlite")
        self.steps: list[str] = []

    def play(self, choose: Choose, *, after_step: Callable[[], None] = lambda: None) -> None:
        """Run until all actors have ended; `choose` is told who may step: a name, or `kill NAME`."""
        with self._hooks():
            for actor in self.actors.values():
                actor.thread = threading.Thread(target=self._act, args=(actor,), daemon=True)
                actor.thread.start()
                self._settle(actor)
            while self._somebody_is_ready():
                self._step(choose(self._choices()))
                after_step()
        for actor in self.actors.values():
            if actor.error is not None:
                raise actor.error

    def pause(self) -> None:
        """Stop the calling actor until it is chosen; a thread that is no actor goes on."""
        actor = self._by_thread.get(threading.get_ident())
        if actor is None:
            return
        with self._changed:
            actor.state = "ready"
            actor.go.clear()
            self._changed.notify_all()
        assert actor.go.wait(PATIENCE_S), "the stage was left"
        if actor.dies:
            raise Killed

    def _act(self, actor: Actor) -> None:
        self._by_thread[threading.get_ident()] = actor
        try:
            for operation in actor.operations:
                if actor.looks_first:
                    self.pause()
                operation()
        except Killed:
            pass
        except BaseException as error:
            actor.error = error
        with self._changed:
            actor.state = "ended"
            self._changed.notify_all()

    def _somebody_is_ready(self) -> bool:
        """Whether anybody can step; False when all have ended. Of a circle the database lets one fail."""

        def states() -> set[str]:
            return {actor.state for actor in self.actors.values()}

        with self._changed:
            settled = self._changed.wait_for(lambda: "ready" in states() or states() == {"ended"}, PATIENCE_S)
        assert settled, "all wait for each other"
        return "ready" in states()

    def _choices(self) -> list[str]:
        ready = [actor for actor in self.actors.values() if actor.state == "ready"]
        kills = [f"kill {actor.name}" for actor in ready if actor.may_die and self.steps]
        return [actor.name for actor in ready] + kills

    def _step(self, choice: str) -> None:
        self.steps.append(choice)
        actor = self.actors[choice.removeprefix("kill ")]
        actor.dies = choice.startswith("kill ")
        with self._changed:
            actor.state = "running"
            actor.go.set()
        self._settle(actor)
        for other in self.actors.values():  # what this step let go on comes to its next stop by itself
            if other.state == "blocked":
                self._settle(other)

    def _settle(self, actor: Actor) -> None:
        """Wait until the actor stops, ends, or is seen to wait for a lock."""
        with self._changed:
            if actor.state == "blocked":
                actor.state = "running"
            for _ in range(int(PATIENCE_S / LOOK_S)):
                if actor.state in ("ready", "ended"):
                    return
                self._changed.wait(LOOK_S)
                if actor.state in ("new", "running") and self._waits_for_lock(actor):
                    actor.state = "blocked"
                    return
        raise AssertionError(f"{actor.name} neither stops nor ends")

    def _waits_for_lock(self, actor: Actor) -> bool:
        if self._is_sqlite:
            return False  # it stops before its transactions only, and these wait for nobody
        others = sum(other.state == "blocked" for other in self.actors.values() if other is not actor)
        with self._store._engine.connect() as db:  # this thread is no actor: it is not stopped
            waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            return bool(db.execute(text(waiting)).scalar_one() > others)

    @contextmanager
    def _hooks(self) -> Iterator[None]:
        engine = self._store._engine
        event.listen(engine, "before_cursor_execute", self._on_statement)
        event.listen(engine, "commit", self._on_commit)
        try:
            yield
        finally:
            event.remove(engine, "before_cursor_execute", self._on_statement)
            event.remove(engine, "commit", self._on_commit)

    def _on_statement(self, _db: Connection, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("BEGIN") or not self._is_sqlite:
            self.pause()

    def _on_commit(self, _db: Connection) -> None:
        if not self._is_sqlite:
            self.pause()


def all_orders(play: Callable[[Choose], None]) -> int:
    """Play every order there is, depth first, by playing again with other choices; return how many."""
    path: list[list[str]] = []  # at each choice, what is left to try; the first is the one in play
    count = 0
    while True:
        depth = 0

        def choose(choices: Sequence[str]) -> str:
            nonlocal depth
            if depth == len(path):
                path.append(list(choices))
            depth += 1
            return path[depth - 1][0]

        play(choose)
        count += 1
        del path[depth:]
        while path and len(path[-1]) == 1:
            path.pop()
        if not path:
            return count
        path[-1].pop(0)


def dice(seed: int, *, kills: float = 0.1) -> Choose:
    """Choose at random; a kill, where one is offered, only now and then."""
    rng = random.Random(seed)

    def choose(choices: Sequence[str]) -> str:
        steps = [choice for choice in choices if not choice.startswith("kill ")]
        deaths = [choice for choice in choices if choice.startswith("kill ")]
        return rng.choice(deaths if deaths and rng.random() < kills else steps)

    return choose
