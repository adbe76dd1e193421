"""Oracle: the truth of a question's intermediate steps, from benchmarks that know it."""

from typing import Protocol, runtime_checkable

from gnomon.core.sample import Sample


@runtime_checkable
class HasOracle(Protocol):
    """A benchmark that can say what perfect tools would have found on the way, without the answer itself."""

    def oracle_steps(self, sample: Sample) -> str:
        """The intermediate steps in words and numbers, for the prompt of an arm that shows `oracle`."""
        ...
