"""The documentation site: ``make docs-site`` builds it from the pages of this folder."""

import importlib.metadata
import os
import re
from pathlib import Path
from typing import Any

import click
from sphinx.application import Sphinx

from ssdlab.cli.options import RunCommand

DOCS = Path(__file__).parent
ROOT = DOCS.parent

project = "ssdlab"
author = "The ssdlab developers"
project_copyright = author
release = importlib.metadata.version("ssdlab")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["generators"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
autodoc_typehints = "description"
smartquotes = False
copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"
copybutton_copy_empty_lines = False

html_theme = "furo"
html_title = f"ssdlab {release}"
html_static_path = ["_static"]
html_css_files = ["tables.css"]

OF_ROOT = {
    "project/contributing": "CONTRIBUTING.md",
    "project/changelog": "CHANGELOG.md",
    "project/structure": "ARCHITECTURE.md",
}
"""Pages of the site that stand in the project's root."""
LINK = re.compile(r"\[([^]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")


def _read_page(_: Sphinx, name: str, source: list[str]) -> None:
    """Point links at pages of the site; a link to any other file becomes its path."""
    page = ROOT / OF_ROOT[name] if name in OF_ROOT else DOCS / f"{name}.md"
    text = page.read_text(encoding="utf-8") if name in OF_ROOT else source[0]
    pages = {ROOT / file: DOCS / f"{place}.md" for place, file in OF_ROOT.items()}

    def link(found: re.Match[str]) -> str:
        target = Path(os.path.normpath(page.parent / found[2]))
        target = pages.get(target, target)
        if target.is_relative_to(DOCS):
            path = os.path.relpath(target, (DOCS / name).parent)
            return f"[{found[1]}]({path}{found[3] or ''})"
        path = str(target.relative_to(ROOT))
        return found[1] if path in found[1] else f"{found[1]} (`{path}`)"

    source[0] = LINK.sub(link, text)


CELL = re.compile(r"<(td|th)\b([^>]*)>(.*?)</\1>", re.DOTALL)
CODE = re.compile(r'(?<=<span class="pre">)[^<]+')
WORD_START = re.compile(r"(?<=[._])(?=[A-Za-z])")
TAG = re.compile(r"<[^>]*>")
LONG_TEXT = 60
"""A cell with more characters than this needs a wide column."""


def _shape_tables(
    _: Sphinx, _name: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Let long names in tables break at their dots, and mark cells of text for tables.css."""

    def cell(found: re.Match[str]) -> str:
        tag, attributes, content = found.groups()
        if len(TAG.sub("", content)) > LONG_TEXT:
            joined = attributes.replace('class="', 'class="of-text ')
            attributes = joined if "class=" in attributes else f'{attributes} class="of-text"'
        content = CODE.sub(lambda code: WORD_START.sub("<wbr>", code[0]), content)
        return f"<{tag}{attributes}>{content}</{tag}>"

    context["body"] = CELL.sub(cell, context.get("body", ""))


def _group_options(_: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    """List the options of a run below the headings that its help has."""
    command = ctx.command
    if not isinstance(command, RunCommand):
        return
    starts = [at for at, line in enumerate(lines) if line.startswith(".. option::")]
    options = [param for param in command.params if isinstance(param, click.Option)]
    ends = [*starts[1:], len(lines)]
    entries = {
        option.name: lines[start:end]
        for option, start, end in zip(options, starts, ends, strict=True)
    }
    lines.clear()
    for heading, group in command.groups(ctx).items():
        listed = [entries[param.name] for param in group if param.name in entries]
        if listed:
            lines.extend([f".. rubric:: {heading}", "", *(line for one in listed for line in one)])


def setup(app: Sphinx) -> None:
    """Register what this file does beyond its settings."""
    app.connect("source-read", _read_page)
    app.connect("html-page-context", _shape_tables)
    app.connect("sphinx-click-process-options", _group_options)
