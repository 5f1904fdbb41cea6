"""What the tests of prose read: the sentences of pages, of comments and of strings."""

import ast
import inspect
import io
import json
import re
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

from command import ROOT

WORDS_MOST = 30
COLUMNS_MOST = 100
GENERATED = ("docs/ledger.md", "docs/reference/config.md", "docs/reference/results.md")
OWNED = re.compile(r"<!-- (\w+):? written by.*?(?:<!-- end of \1 -->|\Z)|<!-- Below.*", re.DOTALL)
"""What a generator owns of a page: up to a mark or the end."""
FIGURE = re.compile(r"<!-- figure: .*?<!-- / -->", re.DOTALL)
CODE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)

_NUMBER = r"\d[\d.,]*\s?"
_WORD = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh"
    r"|nine)(?:teen|ty)|twenty|forty|hundred)"
)
_COUNT = rf"(?<![\w.])(?:{_NUMBER}|{_WORD} )"
"""A number in digits or in words, which is none in a version or a name."""
_UNIT = r"(?:%|ns|µs|us|ms|s|minutes|hours|[KMGT]i?B)(?!\w)"
_MORE = r"(?:as|(?:fast|slow|high|low|long|short|few|small|larg)er|less|more)"
_CHANGES = r"(?:fall|drop|rise|grow|shrink|gain|improve|decrease|increase)s?"
TYPED = re.compile(
    rf"{_NUMBER}million (?:\w+ ){{1,3}}(?:a|per) second"
    rf"|{_NUMBER}(?:times|×|%) {_MORE}\b|{_COUNT}times {_MORE}\b"
    rf"|\b{_CHANGES} (?:by )?{_NUMBER}[%×]"
    rf"|\bfrom {_NUMBER}{_UNIT} to {_NUMBER}{_UNIT}"
    rf"|{_NUMBER}(?:requests|events|instructions|\w+ operations) (?:a|per) second"
    rf"|\b(?:takes|takes up|uses|occupies) (?:\w+ )?{_NUMBER}[KMGT]i?B\b"
    rf"|{_COUNT}of (?:the |all |its )?{_COUNT}|\b{_NUMBER}claims\b"
    rf"|\bof (?:the |all |its )?{_COUNT}(?!(?:and|or|to) )[a-z]+ {_COUNT}[a-z]+"
    rf"|\b(?:takes?|took|needs?|lasts?|after|in) (?:about |only |nearly |over )?{_COUNT}"
    rf"(?:to {_COUNT})?(?:hours|minutes)\b|{_COUNT}(?:hours|minutes) (?:of|on) \w+ cores?\b"
    r"|\b(?:half|quarters? of) an hour\b",
    re.IGNORECASE,
)
"""A speed, a ratio, a change, memory or a count, which a run produced and another would change."""
_RESULT = (
    r"(?:p\d+(?:\.\d+)?|percentiles?|medians?|means?|latenc(?:y|ies)|IOPS|WAF"
    r"|write amplification|throughput|bandwidth|memory|RSS|hit ratios?|lifetimes?|utilization"
    r"|(?:processor|wall-clock|wall|response|run|waiting) times?)"
)
_IS = r"(?:is|are|was|were|stays at|reach(?:es)?|becomes?|(?:fall|drop|rise|grow)s? (?:by|to))"
_ABOUT = r"(?:about |only |nearly |almost |just |over |under |below |above |between )?"
_FIGURE = rf"{_ABOUT}(?<![\w.])[-+−±×]?{_NUMBER}"
_OF_RUN = rf"(?:{_UNIT}|[KMGT]i?B(?:/s)?|GB/s|×|million|billion)"
_LONG = r"(?:s|seconds|minutes?|hours?|days?)(?!\w)"
RESULT = re.compile(
    rf"\b{_RESULT}(?:(?:[^\w.;:]+\w+){{0,5}}?,? {_IS}| of| at) {_FIGURE}(?![\d.,]*\s?requests)"
    rf"|{_NUMBER}{_OF_RUN} (?:of |in )?(?:\w+ ){{0,2}}?{_RESULT}\b"
    rf"|\b(?:need|took|cost|save|gain|lose|finish|end|ran|run|take)(?:s|es|ed)? (?:in |for )?"
    rf"{_FIGURE}{_LONG}"
    rf"|\b(?:gain|save|lose|need|cost|wait)s? {_FIGURE}{_OF_RUN}"
    r"|\b(?:a|one|two|three) (?:half|thirds?|quarters?|fifths?|sixths?|eighths?|tenths?) of "
    r"(?:the |all )?"
    rf"(?:time|reads|writes|requests|wear|latency)\b"
    rf"|\btakes? {_FIGURE}{_UNIT} (?:on average|more|less|longer)"
    rf"|(?<![\w.])\d[\d.]*×(?!\s*\d)"
    rf"|{_NUMBER}% of (?:the |all |its )?"
    rf"(?:reads|writes|requests|time|latency|pages (?:read|written))\b"
    rf"|{_NUMBER}(?:million|billion) (?:\w+ ){{0,3}}(?:operations|events|instructions)\b"
    rf"|\b(?:simulates|serves|reaches) {_FIGURE}(?:million|billion)\b",
    re.IGNORECASE,
)
"""The value of a result, such as a latency or memory, or a time that a command takes."""
PAPER = re.compile(r"\bpapers?\b|\b(?:Table|Figure) [\dIVX]+\b", re.IGNORECASE)
"""What a paper states does not change; its tables and figures have numbers."""
OURS = re.compile(r"\b(?:ours?|ssdlab|here|measured)\b", re.IGNORECASE)
"""Words that compare a paper with what a run produced."""
SETTINGS = {
    r"\b8 GB of memory\b": "a machine that the artifact asks for",
    r"\binterval of ±2 %": "what an option that stands beside it asks for",
    r"\b30 to 40 % of the requests\b": "an assumption of the twins",
}
"""Parts of sentences that have a figure beside the name of a result, and what the figure is."""
PHRASES = re.compile(
    r"\b(?:by and by|as it were|c[ao]mes? to a stand|(?:lets?|letting) go|for ever|who waits"
    r"|is told (?:of|in one line)|as the machine is|(?:is|are) moot|whom a page)\b",
    re.IGNORECASE,
)
"""Metaphors and riddles for which the field has a term."""


RIDDLES = re.compile(r"(?:\b|_)(?:who|whom|whoever|nobodys?|lets?_go|is_told)(?:_|\b)")
"""Words in the name of a function that stand for something that has a name."""


def is_typed(sentence: str) -> bool:
    """Return whether a sentence has a figure that a run produced."""
    plain = re.sub("|".join(SETTINGS), "SETTING", sentence)
    is_of_paper = PAPER.search(sentence) and not OURS.search(sentence)
    return bool(TYPED.search(plain) or RESULT.search(plain)) and not is_of_paper


def pages() -> list[str]:
    patterns = ("*.md", "docs/**/*.md", "docs/**/*.ipynb", "crates/**/README.md")
    found = [path for pattern in patterns for path in ROOT.glob(pattern)]
    names = [str(path.relative_to(ROOT)) for path in found if "target" not in path.parts]
    return sorted(set(names) - set(GENERATED))


def sources(*endings: str) -> list[str]:
    """Return the hand-written sources with these endings, without build folders."""
    folders = ("crates", "python", "reproduction", "tests", "docs", "benches", "examples", "fuzz")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    skipped = {"target", "build", "corpus"}
    return sorted(
        str(path.relative_to(ROOT))
        for path in found
        if path.suffix in endings and not skipped & set(path.relative_to(ROOT).parts)
    )


def toml_files() -> list[str]:
    """Return the TOML files: settings of tools, presets, bundles and tables."""
    found = [*ROOT.glob("*.toml"), *ROOT.glob(".cargo/*.toml")]
    return [*sources(".toml"), *sorted(str(path.relative_to(ROOT)) for path in found)]


def as_markdown(name: str, text: str) -> str:
    """Return a page as Markdown: of a notebook the prose, and the comments of its code."""
    if not name.endswith(".ipynb"):
        return text
    parts: list[str] = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts += [source] if cell["cell_type"] == "markdown" else python_comments(source)
    return "\n\n".join(parts) + "\n"


def written_by_hand(text: str) -> str:
    """Return a page without commands, generated parts and generated figures."""
    return FIGURE.sub("FIGURE", OWNED.sub("", CODE.sub("", text)))


def paragraphs(text: str) -> Iterator[str]:
    """Return the paragraphs and list items of a page, without tables, headings and code."""
    lines: list[str] = []
    for line in [*written_by_hand(text).splitlines(), ""]:
        starts_item = re.match(r" *(?:[-*]|\d+\.) ", line)
        is_prose = line.strip() and not line.startswith(("|", "#", "<!--"))
        is_code = line.startswith("    ") and not lines
        if lines and (starts_item or not is_prose):
            yield " ".join(lines)
            lines = []
        if is_prose and not is_code:
            lines.append(line[starts_item.end() :] if starts_item else line.strip())


def sentences(text: str) -> Iterator[str]:
    """Return the sentences of a text; a name in backticks and a link count as their words."""
    for paragraph in paragraphs(text):
        named = re.sub(r"``[^`]+``|`[^`]*`", "NAME", paragraph)
        linked = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", named)
        plain = re.sub(r"https?://\S+", "URL", linked)
        yield from re.split(r"(?<=[.!?])[*\")]*\s+", plain)


def long_sentences(text: str) -> list[str]:
    return [one for one in sentences(text) if len(one.split()) > WORDS_MOST]


def words_by_hand(text: str) -> int:
    """Return how many words of a page a person wrote, those of tables and commands included.

    A word has a letter or a digit. Generated pages have none, nor has a part that a generator owns.
    """
    if text.startswith("<!-- Generated by"):
        return 0
    plain = re.sub(r"<!--.*?-->", "", OWNED.sub("", text), flags=re.DOTALL)
    return len(re.findall(r"\S*\w\S*", plain))


def begin_html(text: str) -> list[str]:
    """Return the lines that begin with a figure's mark: Markdown takes their paragraph as HTML."""
    begin = r"^ *(?:[-*] |\d+\. )?<!-- (?:figure:|/).*$"
    return re.findall(begin, CODE.sub("", text), re.MULTILINE)


def functions(text: str) -> list[str]:
    """Return the names of the functions that a Rust or Python source defines."""
    return re.findall(r"^\s*(?:[\w() ]*\bfn|def) (\w+)", text, re.MULTILINE)


class Line(NamedTuple):
    """A line of a comment."""

    number: int
    kind: str
    text: str


RUST_TOKEN = re.compile(
    r'(?P<string>\bb?r(?P<hashes>#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*")'
    r"|(?P<char>b?'(?:\\[^']*|[^\\'])')"
    r"|(?P<comment>//[^\n]*)",
    re.DOTALL,
)


def comments_by(tokens: re.Pattern[str], mark: str, text: str) -> Iterator[str]:
    """Return the comments among the tokens of a source, without their marks."""
    found = []
    for token in tokens.finditer(text):
        if comment := token["comment"]:
            kind = re.match(mark, comment)
            assert kind is not None
            before = text[text.rfind("\n", 0, token.start()) + 1 : token.start()]
            place = f"{kind[0]} alone" if not before.strip() else f"beside {token.start()}"
            words = comment[kind.end() :].removeprefix(" ")
            found.append(Line(text.count("\n", 0, token.start()), place, words))
    return blocks(found)


def rust_comments(text: str) -> Iterator[str]:
    """Return the comments of a Rust source, consecutive lines of a kind as one."""
    return comments_by(RUST_TOKEN, r"//[/!]?", text)


def rust_strings(text: str) -> Iterator[str]:
    """Return the strings of a Rust source, each on one line."""
    for token in RUST_TOKEN.finditer(text):
        if string := token["string"]:
            yield re.sub(r"\\\n\s*", "", string)


def python_comments(text: str) -> Iterator[str]:
    """Return the comments of a Python source, consecutive lines as one."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            alone = token.line.strip().startswith("#")
            place = "alone" if alone else f"beside {token.start}"
            words = re.split(r"(?:^|# ?)(?:noqa|type|fmt|pragma):", token.string[1:].strip())[0]
            found.append(Line(token.start[0], place, words))
    return blocks(found)


AS_IT_STANDS = re.compile(r"^ *\x08$.*?(?:\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
"""A paragraph of a docstring that click prints line by line."""


def docstrings(text: str) -> Iterator[str]:
    """Return the docstrings of a Python source, without what click prints line by line."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(doc))):
                yield AS_IT_STANDS.sub("", inspect.cleandoc(doc))


def python_strings(text: str) -> Iterator[str]:
    """Return the strings of a Python source that are no docstrings, parts of f-strings too."""
    tree = ast.parse(text)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def make_comments(text: str) -> Iterator[str]:
    """Return the comments and the help texts of a Makefile."""
    lines = text.splitlines()
    numbered = enumerate(lines)
    yield from blocks([Line(at, "#", one[2:]) for at, one in numbered if one.startswith("# ")])
    yield from (found for one in lines for found in re.findall(r'@echo "(.*)"', one))


TOML_TOKEN = re.compile(
    r'"""(?:\\.|.)*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''
    r"|(?P<comment>#[^\n]*)",
    re.DOTALL,
)


def toml_comments(text: str) -> Iterator[str]:
    """Return the comments of a TOML file, consecutive lines as one."""
    return comments_by(TOML_TOKEN, "#", text)


def blocks(lines: list[Line]) -> Iterator[str]:
    """Join lines of a kind that follow each other."""
    last, texts = None, list[str]()
    for line in lines:
        if texts and last is not None and (line.number, line.kind) != (last.number + 1, last.kind):
            yield "\n".join(texts)
            texts = []
        texts.append(line.text)
        last = line
    if texts:
        yield "\n".join(texts)


def texts_of(name: str, text: str) -> list[str]:
    """Return the comments and docstrings of a source, a TOML file or a Makefile."""
    if name.endswith(".rs"):
        return list(rust_comments(text))
    if name.endswith(".py"):
        return [*python_comments(text), *docstrings(text)]
    if name.endswith(".toml"):
        return list(toml_comments(text))
    return list(make_comments(text))


def long_lines(name: str, text: str) -> list[str]:
    """Return the lines of comments, docstrings and help texts of make that are too long.

    A remark for a linter may stand behind the last column.
    """
    lines = [re.sub(r"\s+# (?:noqa|type):.*", "", line) for line in text.splitlines()]
    long = [line for line in lines if len(line) > COLUMNS_MOST]
    if name.endswith(".py"):
        words = {line.strip() for one in docstrings(text) for line in one.splitlines()}
        return [one for one in long if one.strip().startswith("#") or one.strip(' "') in words]
    if name.endswith(".rs"):
        return [one for one in long if one.strip().startswith("//")]
    if name.endswith(".toml"):
        return [one for one in long if one.strip().startswith("#")]
    return [one for one in long if one.startswith("#") or "@echo" in one]
