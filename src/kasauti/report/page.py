"""`report.html`: one page to read and to listen to.

The page stands alone but for the audio it links to, opens from disk and asks for nothing from outside: its security
policy allows only the script and the style that are in it, by hash. Everything that comes from prompts, judges or
vendors is escaped by the template or put in by the script as text. What it shows is decided in `leaderboard`, `chart`,
`heat`, `speed` and `samples`; this module puts it together.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kasauti.records import Status
from kasauti.report import verdicts, wording
from kasauti.report.chart import Chart, chart
from kasauti.report.heat import HeatMap, language_map, tag_map
from kasauti.report.leaderboard import Board, boards, headlines, status_counts
from kasauti.report.listing import listed
from kasauti.report.loading import RunTables
from kasauti.report.samples import payload
from kasauti.report.speed import speeds
from kasauti.store.files import write_text


@dataclass(frozen=True)
class Panel:
    """Everything about one board. `shown` at first are the headline boards; the others wait behind a menu."""

    board: Board
    chart: Chart | None
    languages: HeatMap
    tags: HeatMap | None
    shown: bool


def write_page(tables: RunTables, path: Path, embed_audio: bool = False) -> None:
    """Writes the page.

    Args:
        tables: One run, or several merged.
        path: Where it goes. Links to audio are relative to its folder, so move it together with the store.
        embed_audio: Carry the audio inside, so that the one file can be sent round. It grows by 4/3 of the audio.

    Raises:
        StoreError: the file can't be written.
    """
    path = Path(path).resolve()
    shown = listed(tables)
    parts = payload(shown, path.parent, embed_audio=embed_audio)
    style, script = _template_text("page.css"), _template_text("page.js")
    html = (
        _environment()
        .get_template("page.html.j2")
        .render(
            tables=tables,
            n_listed=len(shown.prompts),
            policy=_policy(style, script),
            style=Markup(style),
            script=Markup(script),
            data=_json(parts.data),
            sounds=None if parts.sounds is None else _json(parts.sounds),
            **_content(tables, shown),
        )
    )
    write_text(path, html)


def _content(tables: RunTables, shown: RunTables) -> dict[str, Any]:
    """What the template shows above the samples."""
    every = boards(tables)
    first = headlines(every)
    counts = status_counts(tables)
    return {
        "panels": [
            Panel(
                board,
                chart(board),
                language_map(board, tables, shown.prompts),
                tag_map(board, tables, shown.prompts),
                board in first,
            )
            for board in every
        ],
        "metrics": list(dict.fromkeys(board.metric for board in every)),
        "counts": counts,
        "statuses": [status for status in Status if any(count[status] for count in counts.values())],
        "reasons": _reasons(tables),
        "speeds": speeds(tables),
        "audio_s": sum(clip.duration_s or 0.0 for clip in tables.clips),
        "words": wording,
        "told": verdicts,
    }


def _reasons(tables: RunTables) -> list[tuple[str, str, str, int]]:
    """(system, status, reason, rows) of everything that went wrong, most frequent first."""
    found: dict[tuple[str, str, str], int] = {}
    for row in tables.samples:
        if row.status is not Status.OK and row.reason:
            key = (row.system, str(row.status), row.reason)
            found[key] = found.get(key, 0) + 1
    return [(*key, count) for key, count in sorted(found.items(), key=lambda entry: -entry[1])]


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("kasauti.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _template_text(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Content security policy: nothing but the page's own script and style, audio from its own disk or server."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "media-src 'self' file: data:",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def _json(value: Any) -> Markup:
    """JSON that can stand in a script element: no `<`, so neither `</script>` nor `<!--` can occur."""
    return Markup(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"))
