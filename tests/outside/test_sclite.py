"""sclite (NIST SCTK) as an outside oracle: equal total errors, every unit given to it as words.

sclite aligns at the least cost with a substitution at 4, a deletion and an insertion at 3, so on badly mangled lines
its cheapest alignment need not be the one with the fewest errors (three substitutions cost as much as two deletions
with two insertions). The lines here are changed as a recogniser would change them, in about a quarter of their units.
"""

import random
import re
import subprocess

import pytest

from kasauti.metrics.edits import edit_counts
from kasauti.text.languages import LANGUAGES
from kasauti.text.levels import normalize
from kasauti.text.units import code_points, graphemes, words
from text_cases import read_cases

pytestmark = pytest.mark.oracle

LINES_PER_LANGUAGE = 16


def vocabulary():
    """Language -> words of its minimal pairs, normalised."""
    of = {}
    for row in read_cases("minimal_pairs.jsonl"):
        found = f"{row['a']} {row['b']}"
        of.setdefault(row["lang"], set()).update(normalize(found, row["lang"]).split())
    return {lang: sorted(found) for lang, found in of.items()}


def mutated(draw, units, spare):
    """The units with some left out, replaced, doubled or joined by others."""
    out = []
    for unit in units:
        fate = draw.random()
        if fate < 0.08:
            continue
        out.append(draw.choice(spare) if fate < 0.18 else unit)
        if fate > 0.92:
            out.append(draw.choice(spare))
    return out


def lines(split):
    """(language, reference units, hypothesis units), the same ones in every run."""
    draw = random.Random(3)
    for lang, known in vocabulary().items():
        for _ in range(LINES_PER_LANGUAGE):
            said = split(" ".join(draw.choices(known, k=draw.randint(4, 12))))
            spare = split(" ".join(known))
            yield lang, said, mutated(draw, said, spare)


def sclite_totals(folder, pairs):
    """Total errors of each pair as sclite counts them."""
    for name, side in (("ref", 0), ("hyp", 1)):
        trn = "".join(f"{' '.join(pair[side])} (a_{number:05d})\n" for number, pair in enumerate(pairs))
        (folder / f"{name}.trn").write_text(trn, encoding="utf-8")
    command = ["sctk", "sclite", "-r", "ref.trn", "trn", "-h", "hyp.trn", "trn", "-i", "wsj", "-e", "utf-8", "-s"]
    report = subprocess.run(
        [*command, "-o", "pra", "stdout"], cwd=folder, capture_output=True, check=True, encoding="utf-8", timeout=120
    ).stdout
    found = re.findall(r"^id: \(a_(\d+)\)$.*?^Scores: \(#C #S #D #I\) (\d+) (\d+) (\d+) (\d+)$", report, re.M | re.S)
    return {int(number): int(s) + int(d) + int(i) for number, _, s, d, i in found}


def spoken(units):
    """Units as sclite can take them: a space is a word of its own."""
    return ["_" if unit == " " else unit for unit in units]


@pytest.mark.parametrize("split", [words, graphemes, code_points])
def test_equal_total_errors(tmp_path, split):
    drawn = list(lines(split))
    assert len(drawn) >= 300
    assert len({LANGUAGES[lang].script for lang, _, _ in drawn}) >= 7
    pairs = [(spoken(said), spoken(heard)) for _, said, heard in drawn]
    theirs = sclite_totals(tmp_path, pairs)
    assert len(theirs) == len(pairs)
    ours = {number: edit_counts(said, heard).edits for number, (said, heard) in enumerate(pairs)}
    different = {
        number: (ours[number], theirs[number], pairs[number]) for number in ours if ours[number] != theirs[number]
    }
    assert different == {}
    assert sum(ours.values()) > len(ours)
