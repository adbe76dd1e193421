"""Facts about two traces side by side."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gnomon.traces.turns import Call, Turn
from gnomon_analyses.comparing.alignment import align, changed_words, items_of


def turn(number: int, *calls: tuple[str, str], text: str = "") -> Turn:
    made = [
        Call(
            step=0,
            name=name,
            arguments=arguments,
            observation="",
            error=None,
            wall_s=0.0,
            injected=None,
            pictures=(),
        )
        for name, arguments in calls
    ]
    return Turn(number=number, text=text, calls=made)


def test_equal_traces_do_not_part() -> None:
    turns = [turn(1, ("a", "{}")), turn(2, text="C")]
    assert align(turns, turns).diverges_at is None


def test_numbers_that_differ_by_less_than_a_millimetre_are_equal() -> None:
    left, right = [turn(1, ("a", '{"x_m": 1.00001}'))], [turn(1, ("a", '{"x_m": 1.0}'))]
    assert align(left, right).diverges_at is None
    assert align(left, [turn(1, ("a", '{"x_m": 1.01}'))]).diverges_at == 0


def test_the_same_tool_with_other_arguments_is_one_changed_row() -> None:
    left = [turn(1, ("list", "{}")), turn(2, ("go", '{"to": "a"}'))]
    right = [turn(1, ("list", "{}")), turn(2, ("go", '{"to": "b"}'))]
    alignment = align(left, right)
    assert [row.relation for row in alignment.rows] == ["same", "changed"]
    assert alignment.diverges_at == 1


def test_a_call_that_only_one_made_leaves_a_gap() -> None:
    alignment = align([turn(1, ("a", "{}")), turn(2, text="C")], [turn(1, text="C")])
    assert [(row.relation, row.right is None) for row in alignment.rows] == [("left", True), ("same", False)]


def test_equal_calls_with_other_results_are_where_traces_part() -> None:
    left, right = turn(1, ("a", "{}")), turn(1, ("a", "{}"))
    right.calls[0] = replace(right.calls[0], observation="7")
    alignment = align([left], [right])
    assert [row.relation for row in alignment.rows] == ["result"]
    assert alignment.diverges_at == 0


def test_very_long_traces_are_cut_around_the_divergence() -> None:
    left = [turn(number, ("a", f'{{"n": {number}}}')) for number in range(1, 900)]
    right = [*left[:600], turn(601, text="C")]
    alignment = align(left, right)
    assert alignment.is_cut
    assert alignment.diverges_at == 200
    assert len(alignment.rows) <= 2 * 200 + 1


CALLS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["{}", '{"n": 1}', '{"n": 2}'])), max_size=8
)


@given(left=CALLS, right=CALLS)
def test_every_call_of_both_appears_once_and_in_order(
    left: list[tuple[str, str]], right: list[tuple[str, str]]
) -> None:
    ours, theirs = [turn(1, *left)], [turn(1, *right)]
    rows = align(ours, theirs).rows
    assert [row.left for row in rows if row.left] == items_of(ours)
    assert [row.right for row in rows if row.right] == items_of(theirs)


@given(left=st.text(max_size=30), right=st.text(max_size=30))
def test_changed_words_give_the_texts_back(left: str, right: str) -> None:
    ours, theirs = changed_words(left, right)
    assert ("".join(text for text, _ in ours), "".join(text for text, _ in theirs)) == (left, right)
