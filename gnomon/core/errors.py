"""The errors Gnomon raises, as one tree.

GnomonError
├── SpecError        a job spec or a command names something that is not allowed
├── DataError        a benchmark's files are absent or broken beyond use
│   └── FaultyFile   a file of questions has faults, all of which are named, a line each
├── NotFound         no job, trial, scene or plug-in of that name
│   └── Gone         the job was deleted
├── Conflict         the thing exists, but not in a state that allows this
├── Unavailable      the store cannot be reached or has no room: try again later
│   └── NoRoom       the disk is full or fails: what runs waits until it takes more
├── OutOfBudget      the job's limits leave nothing for another call
├── ProviderFault    a model's provider failed: never a wrong answer
├── AgentFault       an agent from outside ended without an answer
├── JudgeFault       the model that judges replies gave no verdict: never a wrong answer
└── ModelFault       the model itself failed: refused, overflowed, broke protocol
"""

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from gnomon.core.model import Reply

from gnomon_tools.core import outage


class GnomonError(Exception):
    """Root; `status` is the HTTP status and `field` the offending part of the input, if one is to blame."""

    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.message, self.field = message, field

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows of it: IPython asks for the lines, and the message is all that helps."""
        return [f"{type(self).__name__}: {self}"]


class SpecError(GnomonError):
    """A spec, argument or parameter is not allowed; the message says what would be."""

    status, title = 422, "Not allowed"


class DataError(GnomonError):
    """A benchmark's data folder is absent or not in its published layout."""

    status, title = 422, "Unusable data"


class FaultyFile(DataError):
    """A file of questions has faults: after the first line of the message, one line names each."""


class NotFound(GnomonError):
    """Nothing of that name is here."""

    status, title = 404, "Not found"


class Gone(NotFound):
    """It was here, and was deleted."""

    status, title = 410, "Deleted"


class Conflict(GnomonError):
    """The state of the thing does not allow this."""

    status, title = 409, "Conflict"


class Unavailable(GnomonError):
    """What is asked for cannot be done now, and can when somebody has mended it."""

    status, title = 503, "Not available"


class NoRoom(Unavailable, outage.ToolOutage):
    """The disk is full, or fails. Nobody is to blame: a trial that meets this is run again later."""


class OutOfBudget(GnomonError):
    """The job may spend no more."""

    status, title = 402, "Out of budget"


class ProviderFault(GnomonError):
    """The provider failed; `cause` is a short code, `transient` whether trying again may help."""

    status, title = 502, "Provider failed"

    def __init__(
        self, message: str, *, cause: str, transient: bool = True, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.cause, self.transient, self.retry_after_s = cause, transient, retry_after_s


class AgentFault(GnomonError):
    """An agent from outside ended without an answer; `cause` is a short code such as `bad_json` or `exit`."""

    status, title = 502, "Agent failed"

    def __init__(self, message: str, *, cause: str) -> None:
        super().__init__(message)
        self.cause = cause


class JudgeFault(GnomonError):
    """The judge gave no verdict on a reply; `cause` is that of its provider, or `unreadable`."""

    status, title = 502, "Judge failed"

    def __init__(self, message: str, *, cause: str) -> None:
        super().__init__(message)
        self.cause = cause


class ModelFault(GnomonError):
    """The model failed by itself; `cause` is a short code such as `refused` or `context_overflow`.

    `reply` is what it said all the same, with what that cost; None where nothing came.
    """

    status, title = 502, "Model failed"

    def __init__(self, message: str, *, cause: str, reply: "Reply | None" = None) -> None:
        super().__init__(message)
        self.cause, self.reply = cause, reply
