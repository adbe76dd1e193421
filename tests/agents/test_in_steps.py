"""Steps are asked one after another, and none sees a later one."""

import json

from gnomon_agents.in_steps import in_steps, steps_of


async def test_each_step_is_asked_in_the_conversation_so_far(new_context):
    context = new_context(["the story", "the lists", "the question"])
    context.prompt = [
        {"role": "user", "content": "Frames.\n## Step 1\nfirst\n## Step 2\nsecond\n## Step 3\nthird"}
    ]
    asked = []
    reply = context.model.reply

    async def listen(request):
        asked.append(json.dumps(request.messages))
        return await reply(request)

    context.model.reply = listen
    assert await in_steps.answer(context) == "the question"
    assert "Frames." in asked[0]
    assert "second" not in asked[0]
    assert "the story" in asked[1]
    assert "third" not in asked[1]
    assert "the lists" in asked[2]
    assert [told.text for told in context.trace.replies] == ["the story", "the lists", "the question"]


def test_pictures_stay_before_the_step_they_stand_before():
    picture = {"type": "image", "sha256": "0", "media_type": "image/png"}
    text = {"type": "text", "text": "## Step 1\na\n## Step 2\nb"}
    first, second = steps_of([{"role": "user", "content": [picture, text]}])
    assert [block["type"] for block in first[0]["content"]] == ["image", "text"]
    assert second[0]["content"] == [{"type": "text", "text": "## Step 2\nb"}]
    assert steps_of([{"role": "user", "content": "plain"}]) == [
        [{"role": "user", "content": [{"type": "text", "text": "plain"}]}]
    ]
