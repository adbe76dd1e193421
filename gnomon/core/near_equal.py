"""Finds questions that are asked twice under other ids, so that they count once.

Two questions are near-equal where all words, numbers and signs of their text and of their options are the
same, in the same order, and their media hold the same bytes. What does not count: case, spaces, the order of
options, marks that part sentences and quote, dashes between words, a label such as `Question 3:`, and
sentences that only ask for an answer (`Please answer.`). Besides, one word may be misspelt: it is written
small, has five letters or more, is one slip away, stands in no other text, and the right answers agree.
"""

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from gnomon.core.clusters import cluster_names, cluster_text, words_on_factors
from gnomon.core.sample import DataFault, SampleRef
from gnomon.core.shared_clusters import kin_by_shared
from gnomon.reading.characters import plain_characters
from gnomon_tools.core.regular_file import open_regular

NEAR_EQUAL, CONTRADICTION, FACTORS = "near_equal", "contradiction", "cluster_factors"
HOW_FACTORS_COUNT = "intervals count both; those of calibration errors, Shapley values and analyses the first"
ON_CLUSTERS = frozenset((NEAR_EQUAL, CONTRADICTION, FACTORS))  # kinds of data faults that are no sample's own
MOST_SPELLED = 50_000_000  # characters of all texts: in more no misspelt words are sought
LEAST_LETTERS = 5  # of a misspelt word: shorter ones are too often one slip from another word
SHOWN_GROUPS, SHOWN_IDS = 5, 4  # that a sentence names

_LABEL = re.compile(r"\s*(?:question|q)\s*(?:no\.?\s*)?\d*\s*[:.)](?=\s*\S)", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
_DASH = re.compile(  # between letters, or before a space and beside no number: a mark; else a sign
    r"(?<=[^\W\d_])-+(?=[^\W\d_])|(?<!\d)(?<!\d )-+(?=\s|$)(?!\s\d)"
)
_PLEA = re.compile(r"\bplease\s+(?:answer|reply|respond)\W*$", re.IGNORECASE)
_TOKEN = re.compile(
    r"[^\W\d_]+"
    r"|(?:(?<![\w.)\]])[-+])?(?:(?<![\w.])\.)?\d+(?:[.,:]\d+)*"
    r"|(?<=\d)['\"′″!*]"
    r"|[^\s\w.,;:!?¿¡…'\"“”‘’„«»‹›。、，！？；：「」『』*]|_"
)
_WORD = re.compile(r"[^\W\d_]+")
_ASK_WORDS = "please kindly thanks thank answer reply respond choose select pick think give provide tell"
_OTHER_WORDS = (
    "answers you the this question following now briefly carefully me us your a an one of from to correct"
    " right best option options choice choices and only with in step by letter"
)
_ASKS = frozenset(_ASK_WORDS.split())
_ASKING = _ASKS | frozenset(_OTHER_WORDS.split())
_COURTESY = frozenset(("please", "kindly"))
_OWN = "near-equal to "  # begins the cluster of a sample that had none


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a sample asks, as far as it tells it from others.

    `media` are paths, of which the bytes are compared, or texts that are equal for equal media only. Answers
    are compared where their `form` is the same: `answers` are texts of which any is right.
    """

    sample_id: str
    text: str
    options: tuple[str, ...] = ()
    media: tuple[str | Path, ...] = ()
    form: str = ""
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NearEqual:
    """The groups of near-equal questions among `looked_at`, and pairs of a group with other right answers."""

    looked_at: int = 0
    groups: tuple[tuple[str, ...], ...] = ()
    contradictions: tuple[tuple[str, str], ...] = ()

    def joined(self, refs: Sequence[SampleRef]) -> Sequence[SampleRef]:
        """The samples, with those of a group in one cluster by each factor.

        What was a cluster before stays together: a group that reaches into two clusters makes them one.
        """
        names = {ref.sample_id: list(cluster_names(ref.cluster)) for ref in refs} if self.groups else {}
        groups = [kin for group in self.groups if len(kin := [one for one in group if one in names]) > 1]
        if not groups:
            return refs
        for factor in range(max(1, *map(len, names.values()))):
            reached: dict[str, list[int]] = defaultdict(list)  # by cluster the groups that reach into it
            for number, group in enumerate(groups):
                for sample_id in group:
                    own = names[sample_id]
                    own += [f"{_OWN}{sample_id}"] * (factor + 1 - len(own))
                    reached[own[factor]].append(number)
            common = {name: min(kin, key=_rank) for kin in kin_by_shared(reached) for name in kin}
            for own in names.values():
                own[factor : factor + 1] = [common.get(name, name) for name in own[factor : factor + 1]]
        return [replace(ref, cluster=cluster_text(names[ref.sample_id])) for ref in refs]

    def faults(self) -> Iterator[DataFault]:
        """What to say of them, with their ids."""
        if self.groups:
            count = sum(map(len, self.groups))
            of = f"{count:,} of {self.looked_at:,} questions are near-equal to another"
            groups = f"{len(self.groups):,} group{'s'[: len(self.groups) > 1]}"
            shown = _shown([_shown(group, SHOWN_IDS, " = ", " and ") for group in self.groups], SHOWN_GROUPS)
            detail = f"{of} ({groups}): each group counts as one cluster: {shown}"
            yield DataFault(sample_id="", kind=NEAR_EQUAL, detail=detail)
        if self.contradictions:
            yield DataFault(sample_id="", kind=CONTRADICTION, detail=self.contradicting())

    def contradicting(self) -> str:
        """The pairs that ask the same and have other answers, in words."""
        pairs = [f"{first!r} and {second!r}" for first, second in self.contradictions]
        return f"questions that ask the same have different answers: {_shown(pairs, SHOWN_GROUPS)}"


def _rank(name: str) -> tuple[bool, str]:
    return name.startswith(_OWN), name


def _shown(parts: Sequence[str], most: int, between: str = "; ", before_rest: str = "; ") -> str:
    rest = f"{before_rest}{len(parts) - most:,} more" if len(parts) > most else ""
    return f"{between.join(parts[:most])}{rest}"


def factor_faults(refs: Iterable[SampleRef]) -> Iterator[DataFault]:
    """What to say of samples that are kin by several factors; nothing of those with one."""
    if words := words_on_factors(ref.cluster for ref in refs):
        yield DataFault(sample_id="", kind=FACTORS, detail=f"{words}: {HOW_FACTORS_COUNT}")


def find_near_equal(asked: Iterable[Asked]) -> NearEqual:
    """The groups of near-equal questions, whatever their order; a question's id is its own."""
    by_words: dict[bytes, list[Asked]] = defaultdict(list)
    texts: dict[bytes, _Text] = {}  # by the same key, while they are few
    characters = 0
    for question in asked:
        text = _Text(_tokens(question.text), question)
        key = text.key
        by_words[key].append(replace(question, text="", options=()))
        characters += len(question.text)
        if characters > MOST_SPELLED:
            texts.clear()
        elif key not in texts or text.place < texts[key].place:
            texts[key] = text
    key_of_media = cache(_media_key)
    shared: dict[str, list[Hashable]] = defaultdict(list)
    for same_words in by_words.values():
        for group in _of_same_media(same_words, key_of_media):
            for question in group:
                shared[question.sample_id].append(group[0].sample_id)
    for first, second in _misspelt(texts, by_words, key_of_media):
        for question in (first, second):
            shared[question.sample_id].append((first.sample_id, second.sample_id))
    by_id = {each.sample_id: each for same in by_words.values() for each in same if each.sample_id in shared}
    groups = sorted(
        (sorted(kin, key=_natural) for kin in kin_by_shared(shared)), key=lambda kin: _natural(kin[0])
    )
    return NearEqual(
        looked_at=sum(map(len, by_words.values())),
        groups=tuple(map(tuple, groups)),
        contradictions=tuple(
            pair for group in groups for pair in _contradictions([by_id[sample_id] for sample_id in group])
        ),
    )


def _natural(name: str) -> tuple[int, str]:
    return len(name), name


def _tokens(text: str) -> list[str]:
    """The words, numbers and signs that count, words in small letters.

    >>> _tokens("Q3: Is it -5 °C? Please answer."), _tokens("A well-known, 5-10 km way")
    (['is', 'it', '-5', '°', 'c'], ['a', 'well', 'known', '5', '-', '10', 'km', 'way'])
    """
    text = _PLEA.sub("", text) or text
    label = _LABEL.match(text)
    sentences = [_words(sentence) for sentence in _SENTENCE.split(text[label.end() :] if label else text)]
    kept = [words for words in sentences if _ASKS.isdisjoint(words) or not _ASKING.issuperset(words)]
    return [word for words in kept or sentences for word in words if word not in _COURTESY]


def _words(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFC", plain_characters(text)).translate(_DASHES)
    return _TOKEN.findall((_DASH.sub(" ", text) if "-" in text else text).casefold())


class _Text:
    """The words of a question that count, and its options in whatever order."""

    def __init__(self, words: Sequence[str], question: Asked) -> None:
        self.joined, self.written, self.place = " ".join(words), question.text, _natural(question.sample_id)
        self.options = sorted(" ".join(_words(option)) or option for option in question.options)

    @property
    def key(self) -> bytes:
        """Equal where words and options are."""
        text = "\n".join((self.joined, *self.options))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    @property
    def words(self) -> list[str]:
        return self.joined.split()

    @property
    def total(self) -> int:
        """A sum that differs by what is known where one word is another (of this process alone)."""
        return hash(tuple(self.options)) + sum(map(hash, enumerate(self.words)))

    def is_same_but(self, word: str, other: str, text: "_Text") -> bool:
        """Whether the other text has that word in place of this one, and both in small letters."""
        mended = " ".join(other if one == word else one for one in self.words)
        is_same = mended == text.joined and self.options == text.options
        # A name with another letter is another name.
        return is_same and all(
            one in _WORD.findall(each.written) for one, each in ((word, self), (other, text))
        )


def _media_key(medium: str | Path, *, is_deep: bool) -> Hashable:
    """A file's size, or with `is_deep` the hash of its bytes; its name where it cannot be read."""
    if isinstance(medium, str):
        return medium
    try:
        if not is_deep:
            return medium.stat().st_size
        with open_regular(medium) as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return str(medium)


def _of_same_media(questions: Sequence[Asked], key_of: Callable[..., Hashable]) -> Iterator[list[Asked]]:
    """Those that show the same; bytes are read only where sizes are equal."""
    groups = [list(questions)] if len(questions) > 1 else []
    for is_deep in (False, True):
        split: dict[Hashable, list[Asked]] = defaultdict(list)
        for number, group in enumerate(groups):
            for question in group:
                media = tuple(key_of(medium, is_deep=is_deep) for medium in question.media)
                split[number, media].append(question)
        groups = [group for group in split.values() if len(group) > 1]
    yield from groups


def _misspelt(
    texts: Mapping[bytes, _Text], by_words: Mapping[bytes, Sequence[Asked]], key_of: Callable[..., Hashable]
) -> Iterator[tuple[Asked, Asked]]:
    """Pairs of questions that are the same but for one misspelt word."""
    held = Counter(word for text in texts.values() for word in set(text.words))
    near: dict[str, list[str]] = defaultdict(list)  # words by what is left of them without a letter
    for word in held:
        if len(word) >= LEAST_LETTERS - 1 and word.isalpha():
            for rest in _rests(word):
                near[rest].append(word)
    slips: dict[str, set[str]] = {}  # by a word of one text those that it may stand for
    for word, count in held.items():
        if count == 1 and len(word) >= LEAST_LETTERS:
            meant = {one for rest in _rests(word) for one in near[rest] if _is_one_slip(word, one)}
            slips |= {word: meant} if meant else {}
    sought = {one for meant in slips.values() for one in meant}
    by_total = {text.total: key for key, text in texts.items() if not sought.isdisjoint(text.words)}
    for key, text in texts.items():
        places: dict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(text.words):
            if word in slips:
                places[word].append(place)
        total = text.total if places else 0
        for word, at in places.items():
            for other in slips[word]:
                again = by_total.get(total + sum(hash((one, other)) - hash((one, word)) for one in at), key)
                if again != key and text.is_same_but(word, other, texts[again]):
                    yield from _answered_alike(by_words[key], by_words[again], key_of)


def _answered_alike(
    some: Sequence[Asked], others: Sequence[Asked], key_of: Callable[..., Hashable]
) -> Iterator[tuple[Asked, Asked]]:
    """One of some and one of the others that show the same and have a right answer in common."""
    ids = {question.sample_id for question in some}
    for group in _of_same_media([*some, *others], key_of):
        ways = [(question, (question.form, answer)) for question in group for answer in _answers(question)]
        first = {way: question for question, way in reversed(ways) if question.sample_id in ids}
        for question, way in ways:
            if question.sample_id not in ids and way in first:
                yield first[way], question


def _rests(word: str) -> set[str]:
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def _is_one_slip(word: str, other: str) -> bool:
    """Whether one letter is left out, added or another, or two beside each other are exchanged.

    >>> [_is_one_slip("bridge", other) for other in ("brdige", "bridg", "bridgee", "bridle", "fridges")]
    [True, True, True, True, False]
    """
    if word == other or abs(len(word) - len(other)) > 1:
        return False
    start = next((at for at, (one, two) in enumerate(zip(word, other, strict=False)) if one != two), None)
    if start is None:
        return True
    one, two = word[start:], other[start:]
    is_swapped = one[:2] == two[1::-1] and one[2:] == two[2:]
    return is_swapped or one[1:] == two[1:] or one[1:] == two or one == two[1:]


def _answers(question: Asked) -> set[str]:
    return {" ".join(_words(answer)) or answer for answer in question.answers}


def _contradictions(group: Sequence[Asked]) -> Iterator[tuple[str, str]]:
    """The first question of a form, with each that has other answers."""
    first: dict[str, Asked] = {}
    for question in group:
        if not question.answers:
            continue
        first_of_form = first.setdefault(question.form, question)
        if not _answers(first_of_form) & _answers(question):
            yield first_of_form.sample_id, question.sample_id
