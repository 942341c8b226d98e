"""Pages that were moved: at the old address stands a page that leads to the new one."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

#: The folder of each page that once stood in ``docs/`` itself.
FOLDERS = {
    "start": ("tutorial", "gallery"),
    "guides": ("studies", "models", "reports"),
    "layer": (
        "mathematics",
        "claims",
        "strata",
        "corrected-theorem",
        "implicitization",
        "learning-coefficients",
        "critical-points",
        "real-critical-points",
    ),
    "networks": (
        "dimension",
        "symmetries",
        "fibers",
        "model-points",
        "networks-claims",
        "deep-limits",
        "deep-singularities",
        "several-heads",
    ),
    "experiments": ("training", "calibration", "audit", "atlas", "deep-atlas", "zoo"),
    "trust": ("evidence", "certificates", "faults", "rank"),
    "extend": ("architecture", "contributing"),
    "reference": ("cli", "library", "json", "errors", "tasks", "bibliography", "changelog"),
}
#: The pages of names that took the places of pages of modules.
MODULES = {
    "classes": ("foundations", "algebra", "attention"),
    "theorems": ("claims", "verify"),
    "geometry": ("equations", "networks", "strata"),
    "weights": ("weights",),
    "engines": ("engines", "systems"),
    "experiments": ("studies",),
    "documents": ("reports",),
}
#: Pages that had a folder, or have another name now.
OTHERS = {
    "heads": "guides/checkpoint",
    "citing": "guides/certificate",
    "start/notebook": "start/notebooks/index",
    "training/report": "experiments/training",
    **{
        f"howto/{page}": f"guides/{page}"
        for page in ("script", "certificate", "program", "cluster", "small-machine")
    },
    **{f"howto/{page}": f"extend/{page}" for page in ("claim", "task", "engine", "layer")},
    **{
        f"{folder}/{old}": f"reference/api/{new}"
        for folder in ("api", "reference/api")
        for new, pages in MODULES.items()
        for old in pages
        if old != new or folder == "api"
    },
    "reference/modules": "reference/library",
}
#: Each old name with the new one.
MOVED = {page: f"{folder}/{page}" for folder, pages in FOLDERS.items() for page in pages} | OTHERS


def page(old: str, new: str) -> str:
    """The page at the old address.

    >>> 'url=../guides/program.html"' in page("howto/program", "guides/program")
    True
    """
    target = escape("../" * old.count("/") + f"{new}.html")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Moved</title>\n'
        f'<meta http-equiv="refresh" content="0; url={target}">\n'
        f'<link rel="canonical" href="{target}"></head>\n'
        f'<body><p>This page has moved: <a href="{target}">{escape(new)}</a>.</p></body></html>\n'
    )


def write(app: Any, error: Exception | None) -> None:
    """Write the pages into the site.

    Raises:
        ValueError: if a new page does not exist, or an old name is in use again.
    """
    if error is not None or app.builder.name != "html":
        return
    for old, new in MOVED.items():
        if new not in app.env.found_docs or old in app.env.found_docs:
            raise ValueError(f"{old} leads to {new}: see docs/_extensions/redirects.py")
        path = Path(app.outdir, f"{old}.html")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(old, new), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write the pages when the site is built."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
