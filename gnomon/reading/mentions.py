"""Tells whether an option's letter that stands in a text is named, chosen, or denied there."""

import re

from gnomon.reading.characters import in_any_case

KIND = (
    r"option|choice|letter|answer|alternativa|opci[oó]n|opç[aã]o|lettre|letra|buchstabe|antwort|respuesta|"
    r"réponse|resposta|вариант|ответ|буква|选项|選項|選択肢|보기|선택지"
)
AND = in_any_case(r"or|and|plus|as well as|along with|oder|und|ou|et|o|y|e|или|и|versus|vs\.?")
AND_CJK = "或者|或|和|与|、|または|か|と|또는|과|와"
MARKS = r"[*_`(\[\"')\]]{0,6}"
BETWEEN = rf"(?:,?\s{AND}\s(?:(?:possibly|maybe|perhaps|even|also)\s)?|\s?(?:[/&+→]|->|{AND_CJK})\s?)"
# The words that may follow "A" or "I" as a letter; before any other word these are an article and a pronoun.
AFTER_LETTER = re.compile(
    r"\s+(?:is|was|because|since|as|for|with|given|due|based|which|but|and|or|seems|would|must|should|will|can|"
    r"if|unless|when|represents|corresponds|matches|describes|porque|ya|pois|car|parce|weil|denn|da|потому|так|at|in|not|"
    r"correct|right|here|though|although)\b"
)
# Patterns of many words are for small letters: search without regard to case takes several times as long.
DENIES = re.compile(
    r"\b(?:not|never|neither|nor|none|no|rul\w+ out|exclud\w+|eliminat(?:e|es|ed|ing)|reject\w*|discard\w*|"
    r"doubt|avoid\w*|instead of|rather than|except|unlike|cannot|initially|previous(?:ly)?|at first|"
    r"first (?:instinct|thought|guess|glance|impression)|might (?:think|say|seem)|tempt\w+|"
    r"(?:was|were) (?:going|about|inclined)|"
    r"(?:all|anything|everything) but|let(?: me| us|['’]s)(?! think| see| say| go| pick| choose)|"
    r"nicht|weder|noch|kein\w*|pas|ni|não|не|ни)\b|n['’]t\b|不是|不选|排除"
)
_CLAUSE = re.compile(
    r"[.!?;。！？；\n]\s|\n|"
    r",\s*(?:so|therefore|thus|hence|it|а|(?:(?:and|which|that) ){0,2}leav(?:es|ing))\b|"
    r"\b(?:(?<![Aa]ll )(?<![Aa]nything )(?<![Ee]verything )but\b|(?:aber|pero|mais|mas|sondern|sino|но)\b|"
    r"[Nn]o(?: wait)?[,:]\s)|而是"
)
_CHOOSES = re.compile(
    r"(?:\bi(?:\s+(?:would|will|have to)|['’](?:ll|d|m))?\s+(?:choose|select|pick|chose|selected|picked|"
    r"go(?:ing)? (?:with|for)|say|prefer|lean(?:ing)? towards?)|\bguess(?:\sis)?|"
    r"\b(?:chang|switch)\w*\s(?:(?:it|my answer)\s)?to|\bleav(?:es|ing)(?:\s(?:only|us with|just))?|"
    r"\b(?:correction|edit|update|no|no wait|wait|wait no)(?=[,:])|"
    r"\b(?:actually|on second thoughts?|i mean|make that|scratch that|sorry)(?=[,: ])|"
    r"\b(?:therefore|thus|hence|so|it)[,:]?(?:\s(?:it|this))?(?:\s(?:is|must be|has to be)|['’]s)?)"
    rf"[,:]?\s{{1,3}}(?:(?:the|{KIND})\s{{1,3}}){{0,3}}[*_`(\[\"']{{0,6}}$"
)
_ONLY = re.compile(rf"[Oo]nly\s{MARKS}$")
# What makes a letter the name of an option: "option B", "**B", "A or B"; "A, B".
_NAMES = re.compile(rf"(?:\b(?:{KIND})s?\s?[*_`(\[\"':]{{0,6}}\s?|\*\*\(?|[(])$")
_NAMES_BEHIND = re.compile(rf"{BETWEEN}[A-Z](?!\w|['’]\w)|[,;]?\s?[A-Z](?:[.,;!:\n]|$)")
_AFTER_ANOTHER = re.compile(rf"[A-Z](?<![^\W_].)(?:(?P<listed>[,;]?\s?)|{BETWEEN})$")
_LEADS_TO = re.compile(
    r"(?:\b(?:is|be|was|think|say|choose|pick|select|with|thus|therefore|so|hence|but|nor|or|and|not)|['’]s|→|=>)"
    r"[:,]?\s{1,3}[*_`(\[\"']{0,6}$"
)
_MENTION_ENDS = re.compile(
    rf"{MARKS}(?:[.,;!:\n。，；]|$|\s(?:or|and|nor|(?i:i (?:guess|think|suppose|believe)|it is))\b)"
)
_CLAUSE_ENDS = re.compile(
    rf"{_MENTION_ENDS.pattern}|{MARKS}\s(?:(?:is|seems|(?:may|might|could) be)\s(?:also\s|still\s)?"
    r"(?:possible|plausible|likely|true|left|better|the (?:only|one))|"
    r"holds|works|remains|passt|richtig|sagen|wählen)\b(?!\snicht)|を選|だ?と(?:思|考)|[을를] 선택|[일인] 것"
)
_RELATES = re.compile(
    r"\b(?:than|from|of|via|near|behind|beside|past|between|(?<!points )(?<!responds )to)\s(?:\w+\s)?$",
    re.IGNORECASE,
)
_ENDS_SENTENCE = re.compile(r"[a-z)][.!]\s$")
ENDS_ALL = re.compile(rf"{MARKS}[.!]?$")


def is_chosen(text: str, at: int, behind: str | None) -> bool:
    """Whether a letter is chosen by what stands before it and, as `behind` says, after it."""
    if behind in ("ends", "ticked"):
        before = text[max(0, at - 60) : at]
        begins_sentence = before[-2:-1] in (".", "!") and _ENDS_SENTENCE.search(before)
        ends_all = begins_sentence and ENDS_ALL.match(text, at + 1)
        return bool(ends_all or (before and _CHOOSES.search(before.lower())))
    return behind == "right" or (behind == "only" and _ONLY.search(text, max(0, at - 12), at) is not None)


def is_named(text: str, at: int) -> bool:
    """Whether a letter that stands by itself is meant as the name of an option."""
    before = text[max(0, at - 30) : at]
    another = _AFTER_ANOTHER.search(before)
    if _NAMES_BEHIND.match(text, at + 1) or (another and another["listed"] is None):
        return True
    before = before.lower()
    if _NAMES.search(before) or (_MENTION_ENDS.match(text, at + 1) and (another or _LEADS_TO.search(before))):
        return True
    begins_line = not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t>*_`-(")
    return begins_line and text[at + 1 : at + 2] in (".", ")", ":")


def ends_clause(text: str, at: int) -> bool:
    """Whether a letter may be what a clause comes to: "The van took route B", but not "left of B"."""
    ends = _CLAUSE_ENDS.match(text, at + 1)
    return ends is not None and _RELATES.search(text, max(0, at - 24), at) is None


def is_letter(text: str, at: int) -> bool:
    """Whether it is no article and no pronoun."""
    return text[at] not in "AI" or bool(AFTER_LETTER.match(text, at + 1) or _MENTION_ENDS.match(text, at + 1))


def is_denied(text: str, at: int) -> bool:
    """Whether the clause that leads to a place denies what stands there."""
    before = text[max(0, at - 60) : at]
    may_deny = DENIES.search(before.lower()) is not None
    return may_deny and DENIES.search(_CLAUSE.split(before)[-1].lower()) is not None
