"""The gazetteer of Japan as an input: tools read it from this package, a question says that it fits."""

from dataclasses import dataclass
from typing import ClassVar

from gnomon_tools.core.inputs import Input


@dataclass(frozen=True, slots=True)
class Gazetteer(Input):
    """Held by questions that play in Japan. There is one for all of them."""

    heading: ClassVar[str] = "On the map of Japan"
    in_words: ClassVar[str] = "the gazetteer of Japan, which is always at hand"

    @classmethod
    def at_hand(cls) -> "Gazetteer":
        return JAPAN


JAPAN = Gazetteer()
