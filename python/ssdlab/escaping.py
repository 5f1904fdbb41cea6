"""Display of names that users give: every character is visible, and names stay distinct.

Users choose the names of labels, files, applications, devices and chips. A control character in a
name ends the renderer of figures, and U+2028 ends a line of a script. A mark for text direction
reverses the words beside it. So all code that shows a name calls this module.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

MAX_LENGTH = 200
"""The maximum length of a shown name."""
_SPARE_LENGTH = 24
"""A longer name is cut to this much less: a number may follow, and an escape adds characters."""
_NUMBER_LENGTH = 12
"""The room that a repeated name leaves for its number."""
UNNAMED = "unnamed"
ELLIPSIS = "…"

# Control characters, surrogates, noncharacters, and characters that take no room or turn the
# direction of text: Unicode's categories Cc, Cs, Zl and Zp, and Default_Ignorable_Code_Point.
# Python's own tables depend on its version; these do not.
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
# A character that joins or varies the one before it stays: in emoji, Persian and Indian scripts.
_JOINED = re.compile(rf"(?<=[^\x00-\x7f{_HIDDEN}])[\u200c\u200d\ufe0e\ufe0f]{{1,2}}")
_HIDDEN_IN_TEXT = re.compile(f"[{_HIDDEN}]")
_HIDDEN_IN_NAME = re.compile(f"[\t\n{_HIDDEN}]")
_SPACES = re.compile(r"[ \u00a0\u2000-\u200a\u202f\u205f\u3000]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_BYTES = range(0xDC80, 0xDD00)
"""How Python represents the bytes of a file name that is not UTF-8."""


def escape(text: str) -> str:
    r"""Return a text of several lines with its invisible characters written as escapes.

    Line ends and tabs stay, ``\x1b`` stands for an escape, ``\u2028`` for a line separator.
    """
    return _escaped(text, _HIDDEN_IN_TEXT)


def escape_name(text: str) -> str:
    """Return a name on one line: escaped as by :func:`escape`, each run of spaces as one space.

    A second call changes nothing. Different names may become equal; :func:`display_labels` keeps
    them apart.
    """
    return _SPACES.sub(" ", _escaped(text, _HIDDEN_IN_NAME)).strip(" ")


def display_labels(labels: Iterable[str], most: int = MAX_LENGTH) -> list[str]:
    """Return names to show side by side: visible, of bounded length, and distinct.

    A name that is too long keeps both ends, because one of them usually distinguishes it. Names
    that are equal, or look equal, get a number each.
    """
    labels = [display_label(each, most) for each in labels]
    counts = Counter(labels)
    room = most - _NUMBER_LENGTH
    return make_distinct(
        [truncate(label, room) if counts[label] > 1 else label for label in labels]
    )


def display_label(label: str, most: int = MAX_LENGTH) -> str:
    """Return a single name: visible, of bounded length, never empty."""
    return truncate(escape_name(label), most) or UNNAMED


def truncate(text: str, most: int) -> str:
    """Return a name of at most ``most`` characters; a longer name loses its middle."""
    if len(text) <= most:
        return text
    room = max(2, most - min(_SPARE_LENGTH, most // 3))
    return escape_name(f"{text[: room // 2]}{ELLIPSIS}{text[-(room - room // 2) :]}")


def truncate_all(texts: Sequence[str], most: int) -> list[str]:
    """Return names shortened by :func:`truncate`; names that became equal get a number each."""
    short = [truncate(each, most) for each in texts]
    return short if len(set(short)) == len(set(texts)) else make_distinct(short)


def is_utf8(text: str) -> bool:
    """Tell whether a text can be encoded: it has no lone surrogate."""
    return text.isascii() or _SURROGATES.search(text) is None


def make_distinct(names: Sequence[str]) -> list[str]:
    """Return distinct names: each repeated name gets a number."""
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
