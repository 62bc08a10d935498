"""Numbers as people speak them, in English and the 22 scheduled languages of India.

- `expand_numbers`: a text with its numbers in words, in the canonical reading.
- `readings`: the lattice of all readings that a speaker accepts.
- `best_reading`, `best_readings`: those nearest to each other of a reference and a transcript; exact.
- `cardinal`, `cardinal_readings`: a number in words. `parse_number`, `digits`: figures of any script.
- `NumberPolicy`: which reading is canonical. `WEAK`: where a language's words can't be trusted.

Not for finding numbers in words (no reverse direction), and not for spelling variants of words that hold no number.
"""

from kasauti.text.numbers.digits import digits, parse_number
from kasauti.text.numbers.lattice import Lattice, Segment
from kasauti.text.numbers.policy import DEFAULT_POLICY, NumberPolicy
from kasauti.text.numbers.reading import best_reading, best_readings, expand_numbers, readings
from kasauti.text.numbers.values import cardinal, cardinal_readings
from kasauti.text.numbers.weak import WEAK

__all__ = [
    "DEFAULT_POLICY",
    "WEAK",
    "Lattice",
    "NumberPolicy",
    "Segment",
    "best_reading",
    "best_readings",
    "cardinal",
    "cardinal_readings",
    "digits",
    "expand_numbers",
    "parse_number",
    "readings",
]
