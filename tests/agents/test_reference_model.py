"""The reference model where no package knows the question."""

import json

from gnomon.core.model import Request
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.reference.guessing import guess
from gnomon_agents.models.reference.model import ReferenceModel
from gnomon_tools.core.toolbox import TOOLS


async def test_a_required_call_is_made_even_where_none_is_needed():
    tools = [TOOLS.get(name).schema() for name in ("distance", "list_cameras")]
    asked = [{"role": "user", "content": "What is the capital of France?"}]
    for choice, called in (("auto", []), ("required", ["list_cameras"])):
        reply = await ReferenceModel(ModelSpec(id="reference")).reply(
            Request(messages=asked, tools=tools, tool_choice=choice)
        )
        assert [call["function"]["name"] for call in reply.tool_calls] == called


def test_a_guess_answers_by_the_text_alone_and_spreads_over_the_letters():
    said = []
    for number in range(400):
        text = f"{number}\nQuestion: Which?\nOptions:\nA. one\nB. two\nC. three\nD. four"
        reply = guess([{"role": "user", "content": text}], "So.")
        assert reply == guess([{"role": "user", "content": text}], "So.")
        said.append(json.loads(reply.splitlines()[-1])["answer"])
    assert all(60 < said.count(letter) < 140 for letter in "ABCD")  # 100 expected, deviation 9
