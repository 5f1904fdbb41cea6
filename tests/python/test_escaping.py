"""Names as they are shown: visible, bounded and distinct, whatever users call things."""

import unicodedata

import example_results
import pytest
from hypothesis import given
from hypothesis import strategies as some

from ssdlab import escaping

TRICKS = "\x00\x1b\x7f\x85\u00ad\u115f\u200b\u200d\u202e\u2028\u3164\ufe0f\ufeff\uffff\ud800\udcff"
# All that a text of Python can hold, halves of surrogate pairs too, and mostly what means mischief.
SIGNS = some.one_of(
    some.sampled_from(TRICKS + " \t\n\u00a0a1e\u0301\U0001f468\\"),
    some.characters(exclude_categories=[]),
)
TEXTS = some.text(SIGNS, max_size=12)
ANY = some.one_of(TEXTS, some.builds(lambda part, many: part * many, TEXTS, some.just(40)))
JOINING = "\u200c\u200d\ufe0e\ufe0f"
UNSEEN = {"Cc", "Cs", "Zl", "Zp"}


def is_visible(text: str) -> bool:
    signs = [sign for sign in text if sign not in JOINING]
    return not any(
        unicodedata.category(sign) in UNSEEN or ord(sign) & 0xFFFE == 0xFFFE or sign in TRICKS
        for sign in signs
    )


@given(ANY)
def test_a_name_is_one_visible_line_and_stays_as_it_is_shown(text: str) -> None:
    name = escaping.escape_name(text)
    assert is_visible(name)
    assert name == name.strip()
    assert "  " not in name
    assert escaping.escape_name(name) == name
    name.encode()


@given(ANY)
def test_a_text_keeps_its_lines(text: str) -> None:
    found = escaping.escape(text)
    assert found.count("\n") == text.count("\n")
    assert is_visible(found.replace("\n", "").replace("\t", ""))
    assert escaping.escape(found) == found


@given(some.lists(ANY, max_size=8))
def test_names_side_by_side_differ_and_are_bounded(texts: list[str]) -> None:
    names = escaping.display_labels(texts)
    assert len(names) == len(texts)
    assert len(set(names)) == len(names)
    assert all(0 < len(name) <= escaping.MAX_LENGTH for name in names)
    assert escaping.display_labels(names) == names


@given(some.lists(some.sampled_from(["a", "a ", "a (1)", "a (2)", "a (1) (1)"]), max_size=8))
def test_a_number_is_none_that_another_name_has(texts: list[str]) -> None:
    names = escaping.display_labels(texts)
    assert len(set(names)) == len(names)
    once = [
        text for text in texts if [escaping.escape_name(each) for each in texts].count(text) == 1
    ]
    assert set(once) <= set(names)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("conventional, scheduler=fifo", "conventional, scheduler=fifo"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\nb\tc", "a\\x0ab\\x09c"),
        ("\u2028", "\\u2028"),
        ("\uffff", "\\uffff"),
        ("\ud800", "\\ud800"),
        # A byte of a file's name that is no UTF-8.
        ("\udcff", "\\xff"),
        ("\u202eabc", "\\u202eabc"),
        # What joins emoji, and letters of Persian, belongs to them; between others it is hidden.
        (
            "\U0001f468\u200d\U0001f469 \u0645\u06cc\u200c\u062e",
            "\U0001f468\u200d\U0001f469 می\u200cخ",
        ),
        ("a\u200db", "a\\u200db"),
    ],
)
def test_names_as_they_are_shown(name: str, expected: str) -> None:
    assert escaping.escape_name(name) == expected


def test_a_long_name_keeps_the_end_that_tells_it_apart() -> None:
    one, other = escaping.display_labels(["x" * 5000 + "1", "x" * 5000 + "2"])
    assert one.endswith("x1")
    assert other.endswith("x2")
    assert escaping.ELLIPSIS in one


def test_all_hostile_labels_stay_apart() -> None:
    assert len(set(escaping.display_labels(example_results.HOSTILE))) == len(
        example_results.HOSTILE
    )
