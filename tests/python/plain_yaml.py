"""Reads the YAML that the project's release files are written in, and nothing beyond.

Mappings and lists by indentation or in brackets, plain and quoted scalars, block scalars, comments.
A scalar is always a string. What else YAML allows is refused, so that a file stays easy to read.
"""

import json
import re
from typing import Any

ENTRY = re.compile(r"([\w./-]+):(?:\s+(.*))?$")
BLOCK = re.compile(r"[|>]-?$")
TOKEN = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[][{},]|[\w./-]+:(?=\s)|[^][{},"']+)""")
NOT_PLAIN = re.compile(r"[]}&*!%@`?>|,]|.*:(\s|$)")


class PlainYamlError(ValueError):
    """A file is not the YAML that is read here."""


def load(text: str) -> Any:
    """Return what a file holds: dicts, lists and strings."""
    reader = Reader(text)
    found = reader.read_block(0)
    if reader.peek() is not None:
        raise reader.error("unexpected indentation")
    return found


def scalar(text: str) -> str:
    """Return what a plain or quoted scalar stands for."""
    if re.fullmatch(r'"(?:[^"\\]|\\.)*"', text):
        found: str = json.loads(text)
        return found
    if re.fullmatch("'(?:[^']|'')*'", text):
        return text[1:-1].replace("''", "'")
    if text[:1] in ('"', "'") or NOT_PLAIN.match(text):
        raise PlainYamlError(f"{text}: neither plain nor quoted")
    return text


def flow(tokens: list[str]) -> Any:
    """Read a list or a mapping in brackets, or a scalar, from the front of these tokens."""
    match tokens.pop(0):
        case "[":
            items = []
            while tokens[0] != "]":
                items.append(flow(tokens))
                skip_comma(tokens, "]")
            tokens.pop(0)
            return items
        case "{":
            entries = {}
            while tokens[0] != "}":
                key = tokens.pop(0).removesuffix(":")
                entries[key] = flow(tokens)
                skip_comma(tokens, "}")
            tokens.pop(0)
            return entries
        case token:
            return scalar(token)


def skip_comma(tokens: list[str], end: str) -> None:
    if tokens[0] == ",":
        tokens.pop(0)
    elif tokens[0] != end:
        raise PlainYamlError(f"{tokens[0]}: expected a comma or {end}")


def without_comment(line: str) -> str:
    """Cut a comment off, which begins with a # at the start of a word outside quotes."""
    quote = ""
    for at, character in enumerate(line):
        starts_word = at == 0 or line[at - 1] in " [{"
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and starts_word:
            quote = character
        elif character == "#" and starts_word:
            return line[:at]
    return line


def indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


class Reader:
    """A place in the lines of a file."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.at = 0

    def error(self, what: str) -> PlainYamlError:
        return PlainYamlError(f"line {self.at + 1}: {what}")

    def peek(self) -> tuple[int, str] | None:
        """Return the indentation and the text of the next line that has one."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if "\t" in line:
                raise self.error("a tab")
            if text := without_comment(line).strip():
                return indentation(line), text
            self.at += 1
        return None

    def read_block(self, least: int) -> Any:
        """Read a mapping or a list that is indented by at least so much; nothing if none is."""
        found = self.peek()
        if found is None or found[0] < least:
            return ""
        return (
            self.read_list(found[0]) if found[1].startswith("- ") else self.read_mapping(found[0])
        )

    def read_list(self, indent: int) -> list[Any]:
        items = []
        while (found := self.peek()) and found[0] == indent and found[1].startswith("- "):
            text = found[1][2:].strip()
            if ENTRY.match(text):
                # A mapping that begins behind the dash is indented as its first key is.
                self.lines[self.at] = self.lines[self.at].replace("-", " ", 1)
                items.append(self.read_block(indent + 1))
            else:
                items.append(self.read_value(text, indent))
        return items

    def read_mapping(self, indent: int) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        while (found := self.peek()) and found[0] == indent and not found[1].startswith("- "):
            entry = ENTRY.match(found[1])
            if entry is None:
                raise self.error(f"{found[1]}: no entry of a mapping")
            if entry[1] in entries:
                raise self.error(f"{entry[1]}: a second time")
            entries[entry[1]] = self.read_value(entry[2] or "", indent)
        return entries

    def read_value(self, text: str, indent: int) -> Any:
        """Read what stands behind a key or a dash, or below it."""
        if BLOCK.match(text):
            return self.read_text(text, indent)
        try:
            if text[:1] in ("[", "{"):
                tokens = [token.strip() for token in TOKEN.findall(text)]
                found = flow([*tokens, ""])
            else:
                found = scalar(text)
        except PlainYamlError as error:
            raise self.error(str(error)) from None
        self.at += 1
        return found if text else self.read_block(indent + 1)

    def read_text(self, mark: str, indent: int) -> str:
        """Read a block scalar: lines as they are, or folded."""
        self.at += 1
        start = self.at
        while self.at < len(self.lines) and (
            not self.lines[self.at].strip() or indentation(self.lines[self.at]) > indent
        ):
            self.at += 1
        lines = self.lines[start : self.at]
        margin = min((indentation(line) for line in lines if line.strip()), default=0)
        found = "\n".join(line[margin:] for line in lines).rstrip("\n")
        if mark.startswith(">"):
            found = found.replace("\n", " ")
        return found if mark.endswith("-") else found + "\n"
