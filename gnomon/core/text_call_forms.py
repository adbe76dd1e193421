"""Defines by the marks around them the forms in which models write calls of tools as text.

The marks are those that the parsers of vLLM, SGLang and llama.cpp read.
"""

import re
from typing import NamedTuple

NAME = r"[\w.\-]{1,200}"


class Form(NamedTuple):
    """Marks around calls. One of `signs` stands in every text of the form. Group 1 of `open`, where it has
    one, is the call's name; then its arguments follow, else all of it.
    """

    name: str
    signs: tuple[str, ...]
    open: re.Pattern[str]
    close: re.Pattern[str]


def _form(name: str, signs: tuple[str, ...], opening: str, closing: str) -> Form:
    return Form(name, signs, re.compile(opening), re.compile(closing))


FORMS = (
    _form(
        "kimi",
        ("<|tool_call_argument_begin|>",),
        r"<\|tool_call_begin\|>\s*([^\s<|]{1,200})\s*<\|tool_call_argument_begin\|>\s*",
        r"<\|tool_call_end\|>",
    ),
    _form(
        "deepseek",
        ("call▁begin", "call_begin", "call begin"),
        rf"<[｜|]tool[▁_ ]call[▁_ ]begin[｜|]>\s*(?:function\s*<[｜|]tool[▁_ ]sep[｜|]>\s*)?({NAME})\s*"
        r"(?:<[｜|]tool[▁_ ]sep[｜|]>\s*)?(?:```(?:json)?\s*)?",
        r"<[｜|]tool[▁_ ]call[▁_ ]end[｜|]>",
    ),
    _form(
        "harmony",
        ("<|message|>",),
        r"to=(?:functions\.)?([\w\-]{1,200})(?=[\s<])[^<>]{0,20}"
        r"(?:<\|(?:channel|constrain)\|>[^<>]{0,20}){0,2}<\|message\|>\s*",
        r"<\|(?:call|end|return)\|>",
    ),
    _form(
        "invoke_xml",
        ("invoke name=",),
        r"<(?:\w{1,20}:|｜DSML｜)?invoke name=[\"']?([^\"'<>\n]{1,200})[\"']?>\s*",
        r"</(?:\w{1,20}:|｜DSML｜)?invoke>",
    ),
    _form(
        "glm",
        ("<arg_key>",),
        r"<tool_call>\s*([^\s<>{}\[\]\"]{1,200})\s*(?=</?(?:arg_key|tool_call)>)",
        r"</tool_call>",
    ),
    _form(
        "qwen3_coder",
        ("<parameter=",),
        rf"<function=({NAME})>\s*",
        r"</(?:function|tool_call)>",
    ),
    _form(
        "llama",
        ("<function=",),
        rf"<function=({NAME})\s*>?\s*",
        r"</(?:function|tool_call)>",
    ),
    _form(
        "hermes",
        ("<tool_call", "<function_call", "<functioncall", "<TOOLCALL"),
        r"<(?:tool_calls?|function_?calls?|TOOLCALL)>\s*(?:```(?:json)?\s*)?",
        r"</(?:tool_calls?|function_?calls?|TOOLCALL)>",
    ),
    _form(
        "mistral",
        ("[TOOL_CALLS]",),
        rf"\[TOOL_CALLS\]\s*(?:({NAME})\s*(?:\[CALL_ID\]\w{{0,40}})?\s*(?:\[ARGS\])?\s*(?=\{{))?",
        r"</s>",
    ),
    _form(
        "llama",
        ("<|python_tag|>", "<|python_start|>"),
        r"<\|python_(?:tag|start)\|>\s*",
        r"<\|(?:eom_id|eot_id|python_end)\|>",
    ),
    _form(
        "react",
        ("Action Input:",),
        rf"Action:[ \t]*(?!(?i:final|finish|submit))({NAME})[ \t]*\n[ \t]*Action Input:[ \t]*",
        r"\n(?=Observation:)",
    ),
    _form(
        "token",  # Granite and Phi, LFM, Cohere, InternLM
        ("<|tool_call|>", "<|tool_call_start|>", "<|START_ACTION|>", "<|plugin|>"),
        r"<\|(?:tool_call|tool_call_start|START_ACTION|plugin)\|>\s*",
        r"<\|(?:/tool_call|tool_call_end|END_ACTION|action_end)\|>",
    ),
)
# What is left of marks once the calls are out.
LEFT_OVER = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|endoftext|end|call|return|message|python_end|action_start)\|>"
    r"|<\|tool_calls_section_(?:begin|end)\|>|<\|(?:start|channel|constrain)\|>\w{0,20} ?"
    r"|</s>|<[｜|](?:end▁of▁sentence|tool[▁_ ]calls[▁_ ](?:begin|end))[｜|]>|[｜|]DSML[｜|]"
    r"|</?(?:\w{1,20}:|｜DSML｜)?(?:tool_calls?|function_?calls?)>|```\w*\s*```"
)
FENCE = re.compile(r"```[ \t]*([\w+\-]{0,40})[ \t]*\r?\n?\s*")
BARE = re.compile(
    r"^[ \t]*(?=[\[{][\[{\s]{0,40}\"(?:name|type|function|tool|tool_name|tool_calls)\""
    r"|[\[{][\[{\s]{0,40}\"(?:arguments|parameters|id)\")",
    re.MULTILINE,
)
PYTHON = re.compile(r"^[ \t]*(?:(\[)\s{0,40})?([A-Za-z_][\w.]{0,200})\(", re.MULTILINE)
PARAMETER = re.compile(
    r"<(?:\w{1,20}:|｜DSML｜)?parameter(?:=| name=)[\"']?([^\"'<>\n]{1,200})[\"']?[^<>\n]{0,100}>(.*?)"
    r"(?:</(?:\w{1,20}:|｜DSML｜)?parameter>|(?=<(?:\w{1,20}:|｜DSML｜)?parameter[= ])|\Z)"
    r"|<arg_key>([^<>]{1,200})</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|(?=<arg_key>)|\Z)",
    re.DOTALL,
)
NAME_IN_JSON = re.compile(rf"[\"'](?:name|tool_name)[\"']\s*:\s*[\"']({NAME})[\"']")
