"""What each category asks, and the forms of its question and options; the words are ours."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Template:
    """What is asked, a form for the question, a form for an option, and how many options there are."""

    explains: str
    question: str
    option: str
    options: int = 5


TEMPLATES: Mapping[str, Template] = {
    task: Template(**fields)
    for task, fields in json.loads(files(__package__).joinpath("templates.json").read_bytes()).items()
}
