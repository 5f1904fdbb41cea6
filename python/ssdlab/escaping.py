"""Names that users give, as they are shown: every character is visible, and names stay distinct.

Labels, files, applications, devices and chips are called as their users like. A control character
in such a name ends the renderer of figures, U+2028 ends a line of a script, and a name with a mark
for the direction of text turns the words beside it around. What shows a name asks here first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

MAX_LENGTH = 200
"""A name is shown in at most so many characters."""
_SPARE_LENGTH = 24
"""A name that is too long is cut to this much less: a number may follow, an escape be longer."""
_NUMBER_LENGTH = 12
"""Of a name that is there several times, so much is left for its number."""
UNNAMED = "unnamed"
ELLIPSIS = "…"

# Control characters, surrogates, what is no character, and what takes no room or turns the
# direction of text: Unicode's categories Cc, Cs, Zl and Zp, and Default_Ignorable_Code_Point.
# Tables of Python's own depend on its version; these do not.
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_NONCHARACTERS = "\ud800-\udfff\ufdd0-\ufdef" + "".join(
    f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
)
_HIDDEN = rf"{_CONTROLS}{_IGNORABLE}{_NONCHARACTERS}"
# What joins or varies the sign before it belongs there: in emoji, in Persian, in Indian scripts.
_JOINED = re.compile(rf"(?<=[^\x00-\x7f{_HIDDEN}])[\u200c\u200d\ufe0e\ufe0f]{{1,2}}")
_HIDDEN_IN_TEXT = re.compile(f"[{_HIDDEN}]")
_HIDDEN_IN_NAME = re.compile(f"[\t\n{_HIDDEN}]")
_SPACES = re.compile(r"[ \u00a0\u2000-\u200a\u202f\u205f\u3000]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_BYTES = range(0xDC80, 0xDD00)
"""How Python holds the bytes of a file's name that is no UTF-8."""


def escape(text: str) -> str:
    r"""Return a text of several lines with its invisible characters written as escapes.

    Line ends and tabs stay, ``\x1b`` stands for an escape, ``\u2028`` for a line separator.
    """
    return _escaped(text, _HIDDEN_IN_TEXT)


def escape_name(text: str) -> str:
    """Return a name as one line: as :func:`escape`, and each run of spaces is one.

    What is returned is returned again when it is given. Different names may become the same:
    :func:`display_labels` keeps them apart.
    """
    return _SPACES.sub(" ", _escaped(text, _HIDDEN_IN_NAME)).strip(" ")


def display_labels(labels: Iterable[str], most: int = MAX_LENGTH) -> list[str]:
    """Return names to be shown side by side: visible, of a bounded length, and each only once.

    Of a name that is too long both ends stay, of which one mostly tells it apart. Names that are
    the same, or look the same, have a number each.
    """
    labels = [display_label(each, most) for each in labels]
    counts = Counter(labels)
    room = most - _NUMBER_LENGTH
    return make_distinct(
        [truncate(label, room) if counts[label] > 1 else label for label in labels]
    )


def display_label(label: str, most: int = MAX_LENGTH) -> str:
    """Return a name by itself: visible, of a bounded length, never nothing."""
    return truncate(escape_name(label), most) or UNNAMED


def truncate(text: str, most: int) -> str:
    """Return a name in at most so many characters, without some in the middle if it is longer."""
    if len(text) <= most:
        return text
    room = max(2, most - min(_SPARE_LENGTH, most // 3))
    return escape_name(f"{text[: room // 2]}{ELLIPSIS}{text[-(room - room // 2) :]}")


def truncate_all(texts: Sequence[str], most: int) -> list[str]:
    """Return names as :func:`truncate` does, those that became the same with a number each."""
    short = [truncate(each, most) for each in texts]
    return short if len(set(short)) == len(set(texts)) else make_distinct(short)


def is_utf8(text: str) -> bool:
    """Tell whether a text can be encoded: no half of a surrogate pair stands alone in it."""
    return text.isascii() or _SURROGATES.search(text) is None


def make_distinct(names: Sequence[str]) -> list[str]:
    """Return names, those that are there several times with a number each that no other has."""
    counts = Counter(names)
    taken = {each for each, count in counts.items() if count == 1}
    last: Counter[str] = Counter()
    numbered = []
    for each in names:
        unique = each
        while counts[each] > 1 and (unique in taken or unique == each):
            last[each] += 1
            unique = f"{each} ({last[each]})"
        taken.add(unique)
        numbered.append(unique)
    return numbered


def _escaped(text: str, hidden: re.Pattern[str]) -> str:
    if hidden.search(text) is None:
        return text
    kept = {at for found in _JOINED.finditer(text) for at in range(*found.span())}
    return hidden.sub(
        lambda found: found[0] if found.start() in kept else _escape_code(ord(found[0])), text
    )


def _escape_code(code: int) -> str:
    if code in _BYTES:
        return f"\\x{code - _BYTES.start + 0x80:02x}"
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
