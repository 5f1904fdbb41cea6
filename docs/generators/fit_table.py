"""Fit the shipped coefficients; write them and docs/guides/calibrate.md (``make fit``)."""

from __future__ import annotations

import ssdlab
from ssdlab.render.figures import drawing
from ssdlab.render.figures.calibration import calibration_figures
from ssdlab.render.text.calibration import VERDICTS
from ssdlab_reproduction.tables.common import DOCS, ROOT

PAGE = DOCS / "guides" / "calibrate.md"
FIGURES = DOCS / "guides" / "calibrate"
BUNDLE = ROOT / "crates/ssdlab-schemes/src/readguard/bundles/predictor.toml"
MARK = "<!-- measured: written by `make fit` -->\n"
DRAWN = (
    *("fit-retries", "fit-steps", "fit-retention-0-2", "fit-retention-0-5", "fit-retention-0-8"),
    *("fit-reads-0-2", "fit-reads-0-5", "fit-reads-0-8", "fit-chances-30d-0"),
    "fit-chances-30d-57600",
)


def main() -> None:
    """Fit the predictor; write the coefficients, the figures and the page."""
    fit = ssdlab.fit()
    BUNDLE.write_text(fit.files["fit.toml"], encoding="utf-8")
    FIGURES.mkdir(exist_ok=True)
    drawn = []
    for figure in calibration_figures(fit):
        if figure.name in DRAWN:
            file = FIGURES / f"{figure.name}.svg"
            file.write_bytes(drawing.draw(figure)["svg"])
            drawn += [f"**{figure.title}.** {figure.what}", ""]
            drawn += [f"![{figure.title}](calibrate/{file.name})", ""]
    claims = [
        f"| {claim.what} | {claim.paper} | {claim.found} | {VERDICTS[claim.holds]} |"
        for claim in fit.claims
    ]
    text, _, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
    parts = [
        f"`ssdlab fit`, {fit.heading}, ssdlab {fit.version}.",
        "",
        "### What the paper says",
        "",
        "| what | paper | here | met |",
        "|---|---|---|---|",
        *claims,
        "",
        "### What is printed",
        "",
        "<!-- printed by: ssdlab fit -->",
        "```",
        str(fit),
        "```",
        "",
        "### Figures",
        "",
        *drawn,
    ]
    PAGE.write_text(f"{text}{MARK}\n" + "\n".join(parts).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
