"""The metadata in the file of a figure: its title, and its description with the runs."""

from __future__ import annotations

import re
import struct
import zlib
from html import escape

_PNG_HEAD = 33
"""The length of the signature and the first chunk, which holds the size."""
_INFO = b"/Producer (svg2pdf)"


def add_to_svg(svg: str, title: str, subject: str) -> str:
    """Add a title and a description to an SVG drawing."""
    head, gap, rest = svg.partition(">")
    return f"{head}{gap}<title>{escape(title)}</title><desc>{escape(subject)}</desc>{rest}"


def add_to_png(png: bytes, title: str, subject: str) -> bytes:
    """Add a title and a description to a PNG image, as texts in UTF-8."""
    chunks = (_chunk(b"Title", title), _chunk(b"Description", subject))
    return png[:_PNG_HEAD] + b"".join(chunks) + png[_PNG_HEAD:]


def _chunk(name: bytes, text: str) -> bytes:
    body = b"iTXt" + name + bytes(5) + text.encode()
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))


def add_to_pdf(pdf: bytes, title: str, subject: str) -> bytes:
    """Add a title and a description to a PDF of this renderer.

    Raises :class:`ValueError` if the information is not the last object of the PDF.
    """
    before, found, after = pdf.rpartition(_INFO)
    rest = re.fullmatch(
        rb"(\s*>>\s*endobj\s*xref\b.*\bstartxref\s+)(\d+)(\s+%%EOF\s*)", after, re.DOTALL
    )
    if not found or rest is None:
        raise ValueError("a PDF whose information is not its last object")
    added = b" /Title %s /Subject %s" % (_string(title), _string(subject))
    start = int(rest[2]) + len(added)
    return before + found + added + rest[1] + str(start).encode() + rest[3]


def _string(text: str) -> bytes:
    return b"<" + ("\ufeff" + text).encode("utf-16-be").hex().encode() + b">"
