"""What the model read of a tool's result is in the trace where an agent has changed it."""

from gnomon.core.agent import READ_OTHERWISE, AgentContext
from gnomon.core.trace import NoteStep

CALL = {"id": "c1", "type": "function", "function": {"name": "echo", "arguments": '{"word": "hi"}'}}


async def notes_of(context: AgentContext, change) -> list[str]:
    """Call the tool, change its result, and ask the model twice."""
    result = await context.call_tool(CALL)
    result = {**result, "content": change(result["content"])}
    asked = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    for _ in range(2):
        await context.generate([*context.prompt, asked, result])
    return [step.text for step in context.trace.steps if isinstance(step, NoteStep)]


async def test_a_result_that_an_agent_has_cut_is_in_the_trace_once_as_it_was_read(new_context):
    context = new_context(["a", "b"])
    assert await notes_of(context, lambda _: "cut") == [f"{READ_OTHERWISE} cut"]
    assert context.trace.tool_steps[0].observation == '{"said": "hi"}'


async def test_a_result_as_it_was_and_one_with_a_line_behind_it_are_not_noted(new_context):
    assert await notes_of(new_context(["a", "b"]), lambda content: content) == []
    assert await notes_of(new_context(["a", "b"]), lambda content: f"{content}\nAnswer now.") == []
