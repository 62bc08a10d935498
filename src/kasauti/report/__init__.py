"""Reports: what a run folder says, on the terminal, in a page to listen to, and in a spreadsheet.

Reads the tables of a run folder and never a model or a judge. Rates are fractions in the tables and per cent only in
what is shown. `load` is the documented reader; `merge` makes one leaderboard of several runs.
"""

from kasauti.report.loading import RunTables, load, load_levels
from kasauti.report.merging import merge
from kasauti.report.names import Names, read_names
from kasauti.report.page import write_page
from kasauti.report.provenance import PromptsetInfo, RunInfo, SystemInfo
from kasauti.report.sheet import write_xlsx
from kasauti.report.studies import Study, load_study
from kasauti.report.table_rows import ClipRow, LevelRow, MarkRow, WordRow
from kasauti.report.terminal import print_leaderboard

__all__ = [
    "ClipRow",
    "LevelRow",
    "MarkRow",
    "Names",
    "PromptsetInfo",
    "RunInfo",
    "RunTables",
    "Study",
    "SystemInfo",
    "WordRow",
    "load",
    "load_levels",
    "load_study",
    "merge",
    "print_leaderboard",
    "read_names",
    "write_page",
    "write_xlsx",
]
