"""Sorts the finish reasons of replies, whichever provider's words they are in."""

# The reply reached its limit: OpenAI, Anthropic, Gemini, Mistral and Cohere.
CUT_REASONS = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
)
# A filter or the model itself refused: OpenAI and LiteLLM, Anthropic, Gemini, GLM, Cohere, Bedrock.
REFUSED_REASONS = frozenset(
    {
        *("content_filter", "content_filtered", "refusal", "safety", "recitation", "blocklist", "spii"),
        *("prohibited_content", "language", "image_safety", "image_prohibited_content", "image_recitation"),
        *("model_armor", "sensitive", "error_toxic", "guardrail_intervened"),
    }
)


def kind_of(reason: str) -> str:
    """A reason without its spelling; Gemini's endpoint for OpenAI's protocol puts a class before it.

    >>> kind_of("function_call_filter: MALFORMED_FUNCTION_CALL"), kind_of("STOP")
    ('malformed_function_call', 'stop')
    """
    return reason.rpartition(":")[2].strip().lower()


def is_cut(reason: str) -> bool:
    """Whether a reply that ended so reached its limit."""
    return kind_of(reason) in CUT_REASONS
