"""What providers answer when they do not reply, as their documentation and their users show it."""
# ruff: noqa: E501 a table

from typing import Any, NamedTuple


class Answer(NamedTuple):
    """An answer of a provider, and what it stands for; `wait_s` is how long it asks to wait."""

    status: int
    body: Any
    cause: str
    transient: bool | None = False  # None: the model's own fault
    wait_s: float | None = None
    headers: dict[str, str] = {}  # noqa: RUF012 never written


def google(code: int, status: str, message: str, *details: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"code": code, "status": status, "message": message, "details": list(details)}}


def openai(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"}
# Google says this of a rate; OpenAI says the same words of an account without credit.
GOOGLE_429 = google(
    429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan.", RETRY_INFO
)
KIMI_QUOTA = {
    "message": "Your account org-x <ak-y> is suspended due to insufficient balance, please recharge",
    "type": "exceeded_current_quota_error",
}
INVALID = "invalid_request_error"

ANSWERS: dict[str, Answer] = {
    # No credit
    "OpenAI quota": Answer(
        429, openai("You exceeded your current quota", type="insufficient_quota", code="insufficient_quota"), "quota"
    ),
    "DeepSeek balance": Answer(402, openai("Insufficient Balance", type="unknown_error"), "quota"),
    "Kimi quota": Answer(429, {"error": KIMI_QUOTA}, "quota"),
    "Kimi quota, 403": Answer(
        403, openai("exceeded current quota", type="exceeded_current_quota_error"), "quota"
    ),
    "Kimi quota, relayed": Answer(
        429,
        openai("Provider returned error", code=429, metadata={"raw": '{"error": ' + str(KIMI_QUOTA).replace("'", '"') + "}"}),
        "quota",
    ),
    "Anthropic credit": Answer(
        400,
        {"type": "error", "error": {"type": INVALID, "message": "Your credit balance is too low to access the API."}},
        "quota",
    ),
    "Anthropic billing": Answer(402, {"type": "error", "error": {"type": "billing_error", "message": "pay"}}, "quota"),
    "GLM balance": Answer(429, openai("Insufficient balance or no resource package", code="1113"), "quota"),
    "DashScope arrears": Answer(400, openai("Access denied", code="Arrearage"), "quota"),
    # A key or a model that is none
    "xAI key": Answer(
        400, {"code": "Client specified an invalid argument", "error": "Incorrect API key provided: ba***na."}, "auth"
    ),
    "xAI key, quoted": Answer(
        400, {"code": "Client specified an invalid argument", "error": "Incorrect%20API%20key%20provided"}, "auth"
    ),
    "Gemini key": Answer(
        400, google(400, "INVALID_ARGUMENT", "API key not valid.", {"reason": "API_KEY_INVALID"}), "auth"
    ),
    "401": Answer(401, openai("who?"), "auth"),
    "403": Answer(403, openai("not you"), "auth"),
    "404": Answer(404, openai("no such model", code="model_not_found"), "not_found"),
    # Moderation
    "OpenRouter moderation": Answer(
        403, openai("flagged", code=403, metadata={"reasons": ["violence"], "flagged_input": "…"}), "refused", None
    ),
    "Azure filter": Answer(
        400, openai("filtered", code="content_filter", innererror={"code": "ResponsibleAIPolicyViolation"}), "refused", None
    ),
    "DashScope inspection": Answer(400, openai("inappropriate", code="data_inspection_failed"), "refused", None),
    # Too long a prompt
    **{
        f"{name} overflow": Answer(400, body, "context_overflow", None)
        for name, body in {
            "OpenAI": openai("too long", code="context_length_exceeded"),
            "OpenAI Responses": openai("Your input exceeds the context window of this model."),
            "Anthropic": {"type": "error", "error": {"type": INVALID, "message": "prompt is too long: 213462 tokens > 200000 maximum"}},
            "Gemini": google(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (8)."),
            "Kimi": openai("Invalid request: Your request exceeded model token limit: 262144", type=INVALID),
            "vLLM": {"object": "error", "message": "This model's maximum context length is 8 tokens.", "code": 400},
            "vLLM decoder": openai("The decoder prompt (length 9) is longer than the maximum model length of 8.", code=400),
            "SGLang": {"object": "error", "message": "The input (9 tokens) is longer than the model's context length (8 tokens)."},
            "llama.cpp": openai("the request exceeds the available context size, try increasing it", type="exceed_context_size_error"),
            "Ollama": {"error": "prompt too long; exceeded max context length by 7 tokens"},
            "LM Studio": {"error": "tokens to keep from the initial prompt is greater than the context length"},
            "xAI": {"code": "x", "error": "This model's maximum prompt length is 8 but the request contains 9 tokens."},
            "Groq": openai("Please reduce the length of the messages or completion.", type=INVALID),
            "DashScope": openai("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]"),
            "SGLang, checked first": openai("Input length (9 tokens) exceeds the maximum allowed length (8 tokens)."),
            "vLLM prompt, beside a limit": openai(
                "'max_tokens' or 'max_completion_tokens' is too large: 1. This model's maximum context length is 8192 "
                "tokens and your request has 9000 input tokens (1 > 8192 - 9000)."
            ),
            "Anthropic prompt, beside a limit": openai("input length and `max_tokens` exceed context limit: 210000 + 9 > 200000"),
            "OpenRouter prompt, beside a limit": openai(
                "This endpoint's maximum context length is 8,192 tokens. However, you requested about 9,900 tokens "
                "(6,000 of text input, 3,000 of tool input, 900 in the output)."
            ),
            "MiniMax": openai("invalid params, context window exceeds limit (2013)"),
            "GLM": openai("Prompt exceeds max length", code="1261"),
            "TGI": {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8. Given: 9 `inputs` tokens and 1 `max_new_tokens`", "error_type": "validation"},
        }.items()
    },
    "Ollama cut prompt": Answer(500, openai("no user query found in messages"), "context_overflow", None),
    # Too fast
    "429": Answer(429, openai("slow down"), "rate_limit", True),
    "Retry-After": Answer(429, openai("slow"), "rate_limit", True, 7.0, {"Retry-After": "7"}),
    "Retry-After, a date": Answer(
        429, openai("slow"), "rate_limit", True, 0.0, {"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}
    ),
    "retry-after-ms": Answer(429, openai("slow"), "rate_limit", True, 1.5, {"retry-after-ms": "1500", "retry-after": "9"}),
    "reset": Answer(
        429,
        openai("slow"),
        "rate_limit",
        True,
        62.0,
        {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m2s", "x-ratelimit-reset-requests": "9h"},
    ),
    "words": Answer(429, openai("Rate limit reached. Please try again in 1.25s. Visit"), "rate_limit", True, 1.25),
    "Gemini delay": Answer(429, GOOGLE_429, "rate_limit", True, 34.07),
    "Gemini delay, in a list": Answer(429, [GOOGLE_429], "rate_limit", True, 34.07),
    "too large for a minute": Answer(
        429, openai("Request too large for m on tokens per min (TPM): Limit 3, Requested 4", code="rate_limit_exceeded"), "rate_limit"
    ),
    # The server
    "500": Answer(500, openai("boom"), "server_error", True),
    "503 that says bad request": Answer(503, openai("overloaded", type=INVALID), "server_error", True),
    "503 with Retry-After": Answer(503, openai("busy"), "server_error", True, 3.0, {"Retry-After": "3"}),
    "503 of a proxy": Answer(503, "<html>busy</html>", "server_error", True),
    "504": Answer(504, "<html>late</html>", "timeout", True),
    "Anthropic overload": Answer(
        529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "server_error", True
    ),
    "OpenRouter, 200": Answer(200, openai("Provider returned error", code=502), "server_error", True),
    "MiniMax balance, 500": Answer(500, openai("insufficient balance (1008)", type="api_error"), "quota"),
    # A call that the server could not read: the model's
    "Groq's call": Answer(
        400,
        openai("Failed to call a function. Please adjust your prompt.", type=INVALID, code="tool_use_failed", failed_generation="<function=x>{"),
        "malformed_call",
        None,
    ),
    **{
        name: Answer(status, body, "malformed_call", None)
        for name, status, body in (
            ("llama.cpp's call", 500, openai("The model produced output that does not match the expected peg-native format", code=500, type="server_error")),
            ("llama.cpp's call, said again", 500, openai("Failed to parse input at pos 9: <tool_call> insufficient balance, prompt is too long", code=500)),
            ("llama.cpp's arguments", 500, openai("Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]", code=500)),
            ("Ollama's call", 500, openai("error parsing tool call: raw='{\"a\":', err=unexpected end of JSON input", type="api_error")),
            ("vLLM's required call", 400, {"object": "error", "message": "1 validation error for list[function-wrap[__log_extra_fields__()]]\n  Invalid JSON: EOF while parsing a value", "type": "BadRequestError", "code": 400}),
            ("vLLM's gpt-oss", 500, openai('unexpected tokens remaining in message header: Some("to=functions.x")', code=500)),
            ("Groq's call, relayed", 400, openai("Provider returned error", code=400, metadata={"raw": '{"error": {"message": "Failed to call a function.", "code": "tool_use_failed"}}'})),
        )
    },
    # An error under the status of a success
    "quota, 200": Answer(200, openai("no", code="insufficient_quota"), "quota"),
    "key, 200": Answer(200, openai("no", code="invalid_api_key"), "auth"),
    "overflow, 200": Answer(200, openai("prompt is too long: 9 tokens > 8 maximum"), "context_overflow", None),
    "error, 200": Answer(200, openai("something"), "bad_response", True),
    **{
        f"MiniMax {number} {said[:9]}, 200": Answer(200, {"id": "x", "choices": None, "base_resp": {"status_code": number, "status_msg": said}}, *fault)
        for number, said, fault in (
            (1008, "insufficient balance", ("quota",)),
            (1004, "login fail: please carry the API secret key", ("auth",)),
            (1002, "rate limit exceeded(RPM)", ("rate_limit", True)),
            (1026, "input new_sensitive", ("refused", None)),
            (1013, "unknown error", ("server_error", True)),
            (2013, "invalid params, context window exceeds limit (2013)", ("context_overflow", None)),
            (2013, "invalid params, bad tool", ("bad_request",)),
        )
    },
    "OpenRouter, 200, too fast": Answer(200, openai("slow", code=429), "rate_limit", True),
    # What Gnomon sent was wrong: never the model's fault
    **{
        f"{name}": Answer(400, openai(message, type=INVALID), "bad_request")
        for name, message in {
            "DeepSeek wants its reasoning": "The `reasoning_content` in the thinking mode must be passed back to the API.",
            "DeepSeek V3.2 wants its reasoning": "Missing `reasoning_content` field in the assistant message at message index 1",
            "Kimi wants its reasoning": "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
            "Anthropic's blocks were changed": "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
            "Anthropic's signature is wrong": "messages.1.content.0: Invalid signature in thinking block",
            "Gemini wants its signature": "Function call is missing a thought_signature in functionCall parts.",
            "OpenAI wants its item": "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
            "Groq takes no such field": "'messages.1' : property 'reasoning_content' is unsupported",
            "vLLM's limit is too large": "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 tokens and your request has 1000 input tokens (9000 > 8192 - 1000).",
            "Anthropic's limit is too large": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
            "OpenAI's sum is too large": "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (1000 in the messages, 8000 in the completion). Please reduce the length of the messages or completion.",
            "TGI's sum is too large": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8. Given: 7 `inputs` tokens and 4 `max_new_tokens`",
            "no turn of the user": "no user query found in messages",
            "DeepSeek takes no such choice": "Thinking mode does not support this tool_choice",
        }.items()
    },
    "422": Answer(422, {"detail": [{"loc": ["body"], "msg": "extra_forbidden", "input": "prompt is too long"}]}, "bad_request"),
    "a code that is no number": Answer(400, openai("no", code="²"), "bad_request"),
    "an error of nonsense": Answer(400, {"error": [[None, {"message": 7}]]}, "bad_request"),
}  # fmt: skip
