"""One page about a panel: figures, tables, findings. Stands alone, opens from disk, asks for nothing, runs no script.

The style is that of the speech report (`kasauti.report`) with a few rules of its own. Everything is escaped by the
template.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kasauti.panel import figures
from kasauti.panel.cases import SCALE
from kasauti.panel.findings import findings_of
from kasauti.panel.sheet import Sheet
from kasauti.panel.study import ALL, Study
from kasauti.store.files import write_text


def write_page(study: Study, sheets: Sequence[Sheet], path: Path) -> None:
    """Writes the page.

    Args:
        study: What was computed.
        sheets: Its tables.
        path: Where the page goes.

    Raises:
        StoreError: the file can't be written.
    """
    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader("kasauti.panel", "templates"), PackageLoader("kasauti.report", "templates")]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    style = "".join(environment.get_template(name).render() for name in ("page.css", "panel.css"))
    sha256 = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    html = environment.get_template("panel.html.j2").render(
        study=study,
        subject=study.subject,
        figures=figures,
        sheets={sheet.name: sheet for sheet in sheets},
        findings=findings_of(study),
        values=SCALE,
        all=ALL,
        style=Markup(style),
        policy=f"default-src 'none'; style-src 'sha256-{sha256}'; img-src data:; base-uri 'none'; form-action 'none'",
    )
    write_text(path, html.lstrip())
