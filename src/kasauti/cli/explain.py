"""Where the numbers of one row came from: `python -m kasauti explain RUN PROMPT_ID`.

The run folder alone is read. Everything is counted anew by the rules of this version, with the settings that the run
was scored with; a number that comes out other than in `per_sample.tsv` is said to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from kasauti.cli.layout import table, wrapped
from kasauti.errors import ConfigError, near_matches
from kasauti.metrics.aligned import cluster_pieces
from kasauti.metrics.edits import AlignedPair, align, edit_counts
from kasauti.metrics.gates import GATES, Gate, Sound, Transcript, sound_gates, transcript_gates
from kasauti.metrics.length import FREE_RATIO, TEXT_LEVEL, Length, expected_length, length_penalty
from kasauti.metrics.rubric import rubric_terms
from kasauti.metrics.score import PCER_LEVEL, PairScore, score_pair
from kasauti.metrics.switching import switch_counts
from kasauti.records import Prompt, SampleRow, Status
from kasauti.report import load
from kasauti.report.loading import RunTables
from kasauti.report.table_rows import ClipRow
from kasauti.report.wording import count_of, language_name
from kasauti.text.levels import DEFAULT_STEPS, normalize, normalize_pair
from kasauti.text.phonetic import phonetic_pair
from kasauti.text.units import words

_UNITS = (
    ("code points", "char_edits", "ref_chars", "cer"),
    ("code points, no spaces", "nospace_edits", "ref_nospace", "cer_nospace"),
    ("grapheme clusters", "grapheme_edits", "ref_graphemes", "gcer"),
    ("words", "word_edits", "ref_words", "wer"),
    ("sounds", "phonetic_edits", "ref_phonetic", "pcer"),
)
_CLOSE = 1e-9
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
"""What a terminal would obey, except the end of a line: texts of prompts and judges are not to be trusted."""


@dataclass(frozen=True)
class Wanted:
    """Which row; what is None may be anything."""

    prompt_id: str
    system: str | None = None
    judge: str | None = None
    repeat: int | None = None
    rejudge: int | None = None


def explain(folder: Path, wanted: Wanted) -> str:
    """Everything behind one row, for a terminal of 80 columns.

    Args:
        folder: The run folder.
        wanted: The row; of several that fit the first is taken, and the others are named.

    Raises:
        ConfigError: no row fits; with near matches.
        StoreError: the run folder can't be read.
    """
    tables = load(folder)
    rows = _rows(tables, wanted)
    text = "\n".join([*_Explained(tables, rows[0]).lines(), *_others(rows), ""])
    return _CONTROL.sub("\ufffd", text)


def _rows(tables: RunTables, wanted: Wanted) -> list[SampleRow]:
    """The rows that fit, in the order of the table."""
    rows: Sequence[SampleRow] = tables.samples
    for name, value in vars(wanted).items():
        if value is None:
            continue
        known = {str(getattr(row, name)) for row in rows}
        rows = [row for row in rows if getattr(row, name) == value]
        if not rows:
            among = "" if name == "prompt_id" else f" among the rows of prompt {wanted.prompt_id!r}"
            raise ConfigError(
                f"run {tables.runs[0].run_id}: no {name} {value!r}{among}; {near_matches(str(value), known)}"
            )
    return list(rows)


def _others(rows: Sequence[SampleRow]) -> Iterator[str]:
    if len(rows) > 1:
        yield from _heading(f"{count_of(len(rows) - 1, 'OTHER ROW', 'OTHER ROWS')} THAT FIT")
        for row in rows[1:]:
            place = f"--system {row.system} --repeat {row.repeat} --judge {row.judge} --rejudge {row.rejudge}"
            yield f"  {place}  ({row.status})"


class _Explained:
    """One row, and what it is explained from."""

    def __init__(self, tables: RunTables, row: SampleRow) -> None:
        self.tables = tables
        self.row = row
        self.scoring = tables.scoring
        self.ladder = tables.scoring.ladder()
        self.prompt: Prompt = next(prompt for prompt in tables.prompts if prompt.id == row.prompt_id)
        key = (row.prompt_id, row.system, row.repeat)
        self.clip = next((c for c in tables.clips if (c.prompt_id, c.system, c.repeat) == key), None)
        self.length = expected_length(self._said(TEXT_LEVEL), self.prompt.lang, self.scoring.length)

    def lines(self) -> Iterator[str]:
        yield from self._head()
        yield from self._texts()
        if self.row.hypothesis is not None:
            yield from self._alignments(self.row.hypothesis)
            yield from self._counts(self.row.hypothesis)
            yield from self._switching(self.row.hypothesis)
        yield from self._marks()
        yield from self._gates()
        yield from self._length()
        yield from self._rubric()
        yield from self._signature()

    def _said(self, level: str) -> str:
        return normalize(self.prompt.text, self.prompt.lang, level, ladder=self.ladder)

    def _pair(self, level: str, hypothesis: str) -> tuple[str, str]:
        return normalize_pair(self.prompt.text, hypothesis, self.prompt.lang, level, ladder=self.ladder)

    def _score(self, level: str, hypothesis: str) -> PairScore:
        return score_pair(self.prompt.text, hypothesis, self.prompt.lang, level, ladder=self.ladder)

    def _head(self) -> Iterator[str]:
        row, prompt = self.row, self.prompt
        facts = [
            ("run", row.run_id),
            (
                "prompt",
                f"{row.prompt_id} · {language_name(row.lang)} ({row.lang}, {row.script}) · {row.tags or 'no tags'}",
            ),
            *((name, value) for name, value in prompt.control.items()),
            ("system", f"{row.system}, repeat {row.repeat}"),
            ("judge", f"{row.judge} ({row.judge_revision}), rejudge {row.rejudge}"),
            ("status", f"{row.status}" + (f" ({row.reason})" if row.reason else "")),
        ]
        if self.clip is not None:
            sound = f", {self.clip.duration_s:.2f} s, {self.clip.path}" if self.clip.duration_s is not None else ""
            facts.append(("clip", f"{self.clip.clip_id}{sound}"))
            facts += [("error", self.clip.error)] if self.clip.error else []
        for name, value in facts:
            yield from wrapped(value, f"{name:8}")

    def _texts(self) -> Iterator[str]:
        """Both sides at every level; a level that changes nothing says so."""
        yield from _heading("TEXT AT EACH LEVEL")
        hypothesis = self.row.hypothesis
        before: tuple[str, ...] = (self.prompt.text, *([] if hypothesis is None else [hypothesis]))
        yield from _both("as given", before)
        for level in DEFAULT_STEPS:
            texts = (self._said(level),) if hypothesis is None else self._pair(level, hypothesis)
            yield from [f"{level:10}as above"] if texts == before else _both(level, texts)
            before = texts
        if hypothesis is not None:
            folded = phonetic_pair(*self._pair(PCER_LEVEL, hypothesis), self.prompt.lang)
            yield from _both("for pcer", folded)

    def _alignments(self, hypothesis: str) -> Iterator[str]:
        said, heard = self._pair(self.scoring.level, hypothesis)
        in_words = edit_counts(words(said), words(heard))
        yield from _heading(
            f"WORDS AT LEVEL {self.scoring.level}: {in_words.substitutions} other, {in_words.deletions} missing, "
            f"{in_words.insertions} extra, {in_words.hits} right"
        )
        for same, pairs in groupby(align(words(said), words(heard)), lambda pair: pair.kind == "hit"):
            place = list(pairs)
            yield from wrapped(" ".join(str(pair.reference) for pair in place), "  = ") if same else _differing(place)
        pieces = cluster_pieces(said, heard)
        yield from _heading(f"CHARACTERS: {sum(piece.edits for piece in pieces)} edits in code points")
        yield from wrapped("{said→heard:edits}, ␣ a space, ∅ nothing; clusters stay whole", "  ")
        shown = "".join(
            piece.said if not piece.edits else f"{{{_visible(piece.said)}→{_visible(piece.heard)}:{piece.edits}}}"
            for piece in pieces
        )
        yield from wrapped(shown, "  ")

    def _counts(self, hypothesis: str) -> Iterator[str]:
        score = self._score(self.scoring.level, hypothesis)
        yield from _heading(f"COUNTS AND RATES AT LEVEL {self.scoring.level}")
        rows = [("", "edits", "of", "", "rate", "")]
        for unit, edits, length, rate in _UNITS:
            value, stored = getattr(score, rate), getattr(self.row, rate)
            differs = stored is None or abs(value - stored) > _CLOSE
            note = f"per_sample.tsv says {_number(stored)}: scored by another version" if differs else ""
            rows.append((unit, str(getattr(score, edits)), str(getattr(score, length)), rate, _number(value), note))
        yield from table(rows, right=(1, 2, 4))
        names = ["cer", "cer_nospace", "gcer", "wer"]
        scores = {level: self._score(level, hypothesis) for level in self.scoring.levels if level != self.scoring.level}
        cells = [[level, *(_number(getattr(score, name)) for name in names)] for level, score in scores.items()]
        if cells:
            yield from _heading("RATES AT OTHER LEVELS")
            yield from table([["", *names], *cells], right=(1, 2, 3, 4))

    def _switching(self, hypothesis: str) -> Iterator[str]:
        """What became of the words of each script, where a row has more than one."""
        if not self.row.switch_words:
            return
        found = switch_counts(self.prompt.text, hypothesis, self.prompt.lang, self.scoring.level, ladder=self.ladder)
        yield from _heading("WORDS BY SCRIPT")
        names = ["right", "other_script", "wrong", "missing"]
        cells = [
            [script or "none", str(heard.n), *(str(getattr(heard, name)) for name in names)]
            for script, heard in found.by_script.items()
        ]
        yield from table([["", "words", *names], *cells], right=(1, 2, 3, 4, 5))
        yield f"  at {found.switch_words} words beside another script: {found.switch_edits} of {found.word_edits} edits"

    def _marks(self) -> Iterator[str]:
        key = (self.row.prompt_id, self.row.system, self.row.repeat, self.row.judge, self.row.rejudge)
        marks = [m for m in self.tables.marks if (m.prompt_id, m.system, m.repeat, m.judge, m.rejudge) == key]
        if marks:
            yield from _heading("MARKS")
            yield from table(
                [(mark.mark, _number(mark.value), f"heard as {mark.label}" if mark.label else "") for mark in marks]
            )

    def _gates(self) -> Iterator[str]:
        gates: list[Gate] = []
        if self.clip is not None and self.clip.status is Status.OK and self.clip.duration_s is not None:
            gates += sound_gates(_sound(self.clip, self.clip.duration_s, self.length), self.scoring.gates)
        if self.row.hypothesis is not None:
            said, heard = self._pair(TEXT_LEVEL, self.row.hypothesis)
            verdict = self._score(self.scoring.level, self.row.hypothesis).status
            gates += transcript_gates(Transcript(said, heard, verdict), self.scoring.gates)
        yield from _heading("GATES")
        if not gates:
            yield "  nothing to measure: neither a clip nor a transcript"
            return
        yield from table(map(_gate_cells, gates), right=(1,))
        failed = " ".join(gate.name for gate in gates if not gate.passed)
        if failed != self.row.gates:
            yield from wrapped(f"per_sample.tsv says {self.row.gates!r}: measured by another version", "  ")

    def _length(self) -> Iterator[str]:
        yield from _heading("LENGTH")
        if self.length is None:
            yield "  no pace for this language in scoring.length.chars_per_second"
            return
        for code, n in self.length.letters.items():
            pace = self.length.chars_per_second[code]
            yield f"  {n} letters and marks of {code} at {pace:g} a second = {self.length.seconds(code):.3f} s"
        expected_s = self.length.expected_s
        yield f"  expected: {expected_s:.3f} s (at least {self.scoring.length.min_expected_s:g} s)"
        if self.clip is not None and self.clip.duration_s:
            ratio = self.clip.duration_s / expected_s
            penalty = length_penalty(self.clip.duration_s, expected_s)
            yield f"  clip: {self.clip.duration_s:.3f} s, {ratio:.3f} times as long"
            yield f"  penalty: max(0, |ln {ratio:.3f}| - ln {FREE_RATIO:g}) = {_number(penalty)}"

    def _rubric(self) -> Iterator[str]:
        yield from _heading("RUBRIC")
        rubric = rubric_terms(self.row, self.scoring.rubric)
        if rubric is None:
            yield "  none: the row is not ok, or a part can't be measured"
            return
        cells = [
            (part.name, part.formula, f"{part.weight:.3g} × {part.value:.4f}", f"= {part.points:.4f}")
            for part in rubric.parts
        ]
        cells.append(("sum", "", "", f"= {rubric.weighted:.4f}"))
        cells += [(f"{gate} failed", "", f"× {factor:g}", "") for gate, factor in rubric.factors.items()]
        cells.append(("rubric", "", "", f"= {rubric.score:.4f}"))
        yield from table(cells, right=(2, 3))

    def _signature(self) -> Iterator[str]:
        signature = self.tables.signatures.get(self.row.judge)
        if signature:
            yield from _heading("SCORE SIGNATURE")
            parts = (part.partition(":") for part in signature.split("|"))
            yield from table((name, value) for name, _, value in parts)


def _heading(text: str) -> list[str]:
    return ["", text]


def _both(name: str, texts: Sequence[str]) -> Iterator[str]:
    for side, text in zip(("said ", "heard"), texts, strict=False):
        yield from wrapped(text or "∅", f"{name:10}{side} ", " " * 16)
        name = ""


def _differing(pairs: Iterable[AlignedPair]) -> Iterator[str]:
    for pair in pairs:
        if pair.reference is None:
            yield from wrapped(str(pair.hypothesis), "  + ")
        elif pair.hypothesis is None:
            yield from wrapped(str(pair.reference), "  - ")
        else:
            yield from wrapped(f"{pair.reference} → {pair.hypothesis}", "  ~ ")


def _visible(text: str) -> str:
    return text.replace(" ", "␣") or "∅"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _sound(clip: ClipRow, duration_s: float, length: Length | None) -> Sound:
    return Sound(
        duration_s=duration_s,
        expected_s=None if length is None else length.expected_s,
        leading_silence_s=clip.leading_silence_s,
        trailing_silence_s=clip.trailing_silence_s,
        clipped_fraction=clip.clipped_fraction,
        end=clip.end,
        cap_s=clip.cap_s,
    )


def _gate_cells(gate: Gate) -> tuple[str, str, str, str]:
    verdict = "passed" if gate.passed else "FAILED"
    if gate.limit is None:
        verdict = "off"
    elif gate.measured is None:
        verdict = "not measured"
    limit = f"{gate.rule} {_measure(gate.limit)} {GATES[gate.name]}"
    return gate.name, _measure(gate.measured), limit, verdict


def _measure(value: float | str | None) -> str:
    return "–" if value is None else value if isinstance(value, str) else f"{value:.4g}"
