"""Lattice: every reading of a text, without listing them.

A text with numbers in it is a row of segments. A segment is a stretch of text (one reading) or a number (several
readings); a reading is a row of slots; a slot is a word in all its accepted spellings. The number of strings in a
lattice is a product and can be astronomical, its size is a sum. First comes first: the canonical string takes the
first reading of every segment and the first spelling of every slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, product
from math import prod

from kasauti.text.numbers.tables import Slot, unique, with_ending

Reading = tuple[Slot, ...]
"""One way to say something: words in a row, each in all its spellings, said with a blank between them."""

Readings = tuple[Reading, ...]
"""Ways to say the same thing, the canonical one first."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text or a number.

    Attributes:
        readings: Its readings, the canonical one first; at least one, and no spelling is empty.
        joined: Whether it follows the segment before it without a blank.
    """

    readings: Readings
    joined: bool = False


@dataclass(frozen=True)
class Lattice:
    """All readings of a text.

    Attributes:
        segments: In the order of the text. The strings of the lattice are all choices of one reading per segment and
            one spelling per slot; an empty lattice has one string, the empty one.
    """

    segments: tuple[Segment, ...]

    @cached_property
    def canonical(self) -> str:
        """The reading that `expand_numbers` gives."""
        return "".join(
            f"{_blank(i, segment)}{' '.join(slot[0] for slot in segment.readings[0])}"
            for i, segment in enumerate(self.segments)
        )

    @cached_property
    def count(self) -> int:
        """How many choices there are (two of them may be the same string)."""
        return prod(sum(prod(map(len, reading)) for reading in s.readings) for s in self.segments)

    def only_canonical(self) -> Lattice:
        """The lattice of the canonical string alone."""
        return Lattice((Segment(literal(self.canonical)),) if self.segments else ())

    def strings(self) -> Iterator[str]:
        """Every string, canonical first; mind `count`."""
        choices = [
            [_blank(i, segment) + text for reading in segment.readings for text in reading_strings(reading)]
            for i, segment in enumerate(self.segments)
        ]
        return map("".join, product(*choices))

    @cached_property
    def edges(self) -> tuple[tuple[int, int, str], ...]:
        """The lattice as a graph: (from, to, text) with nodes numbered in topological order, from 0 to `n_nodes` - 1.

        Every path from the first to the last node spells one string, blanks included, and no edge is empty.
        """
        edges: list[tuple[int, int, str]] = []
        node = 0
        for blank, segment in self._merged():
            end = node + 1 + sum(len(reading) - 1 for reading in segment)
            free = node + 1
            for reading in segment:
                start = node
                for position, slot in enumerate(reading):
                    target = end if position == len(reading) - 1 else free
                    edges += [(start, target, (" " if position else blank) + word) for word in slot]
                    start, free = target, free + (target == free)
            node = end
        return tuple(sorted(edges, key=lambda edge: edge[0]))

    def _merged(self) -> Iterator[tuple[str, Readings]]:
        """Blank and readings of every segment, with words that have one spelling put together, within and across."""
        text = ""
        for i, segment in enumerate(self.segments):
            readings = tuple(tuple(_run_together(reading)) for reading in segment.readings)
            if len(readings) == len(readings[0]) == len(readings[0][0]) == 1:
                text += _blank(i, segment) + readings[0][0][0]
                continue
            if text:
                yield "", literal(text)
            text = ""
            yield _blank(i, segment), readings
        if text:
            yield "", literal(text)

    @cached_property
    def n_nodes(self) -> int:
        """Nodes of the graph."""
        return max((to for _, to, _ in self.edges), default=0) + 1


def _blank(position: int, segment: Segment) -> str:
    return "" if position == 0 or segment.joined else " "


def _run_together(reading: Reading) -> Iterator[Slot]:
    """The slots of a reading, neighbours that have one spelling each as one slot."""
    for single, slots in groupby(reading, key=lambda slot: len(slot) == 1):
        if single:
            yield (" ".join(slot[0] for slot in slots),)
        else:
            yield from slots


def reading_strings(reading: Reading) -> Iterator[str]:
    """Every string of one reading, the canonical one first."""
    return map(" ".join, product(*reading))


def chain(*parts: Readings) -> Readings:
    """Readings of things said one after another: every choice of one reading each."""
    return tuple(tuple(slot for reading in choice for slot in reading) for choice in product(*parts))


def attach(readings: Readings, rules: Slot) -> Readings:
    """Readings whose last word takes an ending (`kasauti.text.numbers.tables.with_ending`)."""
    ended = ((*reading[:-1], with_ending(reading[-1], rules)) for reading in readings)
    return tuple(reading for reading in ended if reading[-1])


def distinct(readings: Readings) -> Readings:
    """Readings without repetitions, order kept."""
    return tuple(dict.fromkeys(readings))


def literal(text: str) -> Readings:
    """Text that is read as it stands."""
    return (((text,),),)


def mapped(readings: Readings, change: Callable[[str], str]) -> Readings:
    """Readings with every spelling changed; spellings that become the same are one, those that become nothing go."""
    changed = (
        tuple(spellings for slot in reading if (spellings := unique(filter(None, map(change, slot)))))
        for reading in readings
    )
    return distinct(tuple(reading for reading in changed if reading))
