"""Exact search for the two nearest strings of two lattices.

The number of strings of a lattice is a product, so none is listed: edit distances are computed on the two graphs, as
between strings, with a minimum wherever paths meet. One side, the *pattern*, is kept as bit vectors: for each of its
edges the differences between neighbouring cells of the distance table are -1, 0 or +1 and fit two integers, which one
character of the other side moves on in some dozen integer operations. A minimum of two such rows is such a row again,
which is why the same works at nodes where readings meet.

The distance of the two canonical strings bounds the result, so whatever lies above it need not be known: it is only
kept above (the *limit*), and edges without a cell below it are asleep.

Cost: at most characters in the one graph times edges of the other, whatever the number of paths; where the texts are
alike, a narrow band of that.

Sources: G. Myers, A fast bit-vector algorithm for approximate string matching based on dynamic programming, JACM 46
(1999); H. Hyyrö, A bit-vector algorithm for computing Levenshtein and Damerau edit distances, Nordic J. Computing 10
(2003), the form with a carry into and out of a block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from kasauti.text.numbers.lattice import Lattice

Edge = tuple[int, int, str]
"""From a node to a node, and the text between them; node 0 is the first, edges are in the order of their starts."""

Values = NDArray[np.int64]


_ASLEEP = -1
"""In the place of an edge's bits: all its cells are above the limit, and so is the node that it starts from."""


_NEAR = 8
"""A limit that needs no other to be fast."""

_FEW_PAIRS = 1 << 14
"""Up to so many pairs of strings it is faster to compare them all."""


@dataclass(frozen=True, slots=True)
class _Row:
    """Edit distances of one prefix (of some path of the other side) to every prefix of the pattern's paths.

    Attributes:
        nodes: Distance at every node of the pattern, at most limit + 1.
        up: Per edge of the pattern, bit p set where cell p + 1 is one more than cell p; or `_ASLEEP`.
        down: The same where it is one less.
        awake: First edge that is awake, and the one after the last; equal when none is.
    """

    nodes: tuple[int, ...]
    up: tuple[int, ...]
    down: tuple[int, ...]
    awake: tuple[int, int]


class _Pattern:
    """The side of the comparison that is kept as bit vectors."""

    def __init__(self, graph: _Graph, limit: int) -> None:
        self._limit = limit
        self._n_nodes = graph.n_nodes
        self._edges: list[tuple[int, int, int, int, dict[str, int]]] = []
        for i, (start, end, text) in enumerate(graph.edges):
            mask: dict[str, int] = {}
            for position, char in enumerate(text):
                mask[char] = mask.get(char, 0) | 1 << position
            self._edges.append((i, start, end, len(text), mask))
        self._starts = np.array([start for start, _, _ in graph.edges])
        self._places = graph.places()
        self._heads, self._sizes = np.array(self._places[:-1]), np.diff(self._places)
        self._bytes = [length // 8 + 1 for _, _, _, length, _ in self._edges]
        self._byte_places = [0, *accumulate(self._bytes)]
        cells = zip(self._byte_places, self._edges, strict=False)
        self._bits = np.array([8 * first + p for first, edge in cells for p in range(edge[3] + 1)], dtype=np.int64)

    def start(self) -> _Row:
        """Distances of the empty prefix."""
        nodes = [0] + [self._limit + 1] * (self._n_nodes - 1)
        ups = []
        for _, start, end, length, _ in self._edges:
            nodes[end] = min(nodes[end], nodes[start] + length)
            ups.append((1 << length) - 1 if nodes[start] <= self._limit else _ASLEEP)
        return _Row(tuple(nodes), tuple(ups), (0,) * len(ups), _span(ups))

    def advance(self, row: _Row, text: str) -> _Row:
        """Distances after more characters of the other side."""
        low, high = row.awake
        if low == high:
            return row
        nodes, ups, downs, limit = list(row.nodes), list(row.up), list(row.down), self._limit
        for char in text:
            if low == high:
                break
            old, nodes = nodes, [min(nodes[0], limit) + 1] + [limit + 1] * (self._n_nodes - 1)
            first, last, reached = 0, 0, 0
            for i, start, end, length, mask in self._edges[low:]:
                if ups[i] != _ASLEEP:
                    ups[i], downs[i], value = _step(
                        ups[i], downs[i], mask.get(char, 0), length, old[start], nodes[start] - old[start]
                    )
                    if nodes[start] - downs[i].bit_count() > limit:
                        ups[i] = _ASLEEP
                        continue
                elif nodes[start] <= limit:
                    # No cell was within the limit before, so those from here on are reached by insertions alone.
                    ups[i], downs[i], value = (1 << length) - 1, 0, nodes[start] + length
                elif i >= high and start > reached:
                    break
                else:
                    continue
                first, last = first if last else i, i + 1
                if value < nodes[end]:
                    nodes[end] = value
                    if value <= limit and end > reached:
                        reached = end
            low, high = first, last
        return _Row(tuple(nodes), tuple(ups), tuple(downs), (low, high))

    def values(self, row: _Row) -> Values:
        """Distances of a row spelled out: edge by edge, those at its cells 0 to its length."""
        found = np.full(self._places[-1], self._limit + 1, dtype=np.int64)
        low, high = row.awake
        if low < high:
            place, end = self._places[low], self._places[high]
            ups = [max(up, 0) for up in row.up[low:high]]
            total = (self._spread(ups, low, high) - self._spread(row.down[low:high], low, high)).cumsum()
            heads = self._heads[low:high] - place
            starts = np.array(row.nodes)[self._starts[low:high]]
            found[place:end] = total + np.repeat(starts - total[heads], self._sizes[low:high])
        return found

    def least(self, rows: list[_Row]) -> _Row:
        """The cell by cell minimum of several rows."""
        if len(rows) == 1:
            return rows[0]
        nodes = tuple(map(min, zip(*(row.nodes for row in rows), strict=True)))
        spans = [row.awake for row in rows if row.awake[0] < row.awake[1]]
        ups, downs = [_ASLEEP] * len(self._edges), [0] * len(self._edges)
        if not spans:
            return _Row(nodes, tuple(ups), tuple(downs), (0, 0))
        low, high = min(first for first, _ in spans), max(last for _, last in spans)
        place = self._places[low]
        cells = np.minimum.reduce([self.values(row) for row in rows])[place : self._places[high]]
        within = np.minimum.reduceat(cells, self._heads[low:high] - place) <= self._limit
        steps = cells - np.roll(cells, 1)
        raised, lowered = self._gathered(steps > 0, low, high), self._gathered(steps < 0, low, high)
        for i, up, down, is_within in zip(range(low, high), raised, lowered, within, strict=True):
            if is_within:
                ups[i], downs[i] = up, down
        return _Row(nodes, tuple(ups), tuple(downs), _span(ups))

    def _spread(self, vectors: Sequence[int], low: int, high: int) -> Values:
        """Bits of some edges as 0 and 1 at their cells; the first cell of an edge has none."""
        sizes = self._bytes[low:high]
        packed = b"".join([(bits << 1).to_bytes(size, "little") for bits, size in zip(vectors, sizes, strict=True)])
        bits = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), bitorder="little")
        cells = self._bits[self._places[low] : self._places[high]] - 8 * self._byte_places[low]
        return bits[cells].astype(np.int64)

    def _gathered(self, at_cells: NDArray[np.bool_], low: int, high: int) -> Iterator[int]:
        """Bits of some edges from what holds at their cells."""
        first = self._byte_places[low]
        bits = np.zeros(8 * (self._byte_places[high] - first), dtype=np.bool_)
        bits[self._bits[self._places[low] : self._places[high]] - 8 * first] = at_cells
        packed = np.packbits(bits, bitorder="little").tobytes()
        for i in range(low, high):
            yield int.from_bytes(packed[self._byte_places[i] - first : self._byte_places[i + 1] - first], "little") >> 1


def _span(ups: Sequence[int]) -> tuple[int, int]:
    """First edge that is awake, and the one after the last."""
    awake = [i for i, up in enumerate(ups) if up != _ASLEEP]
    return (awake[0], awake[-1] + 1) if awake else (0, 0)


def _step(up: int, down: int, equal: int, length: int, start: int, carry: int) -> tuple[int, int, int]:
    """One character over one edge: its bits afterwards and the distance at its end.

    Args:
        up: Bits of `_Row.up` before.
        down: Bits of `_Row.down` before.
        equal: Bit p set where the character is that of the edge at p.
        length: Characters of the edge.
        start: Distance at the start of the edge before.
        carry: What is added to it, -1, 0 or 1.
    """
    full = (1 << length) - 1
    value = start + up.bit_count() - down.bit_count()
    vertical = equal | down
    if carry < 0:
        equal |= 1
    horizontal = (((equal & up) + up) ^ up) | equal
    more, less = down | (~(horizontal | up) & full), up & horizontal
    value += (more >> (length - 1) & 1) - (less >> (length - 1) & 1)
    more, less = more << 1 | (carry > 0), less << 1 | (carry < 0)
    return (less | ~(vertical | more)) & full, more & vertical & full, value


@dataclass(frozen=True, slots=True)
class _Graph:
    """A lattice as edges, or the same read from its end."""

    edges: tuple[Edge, ...]
    n_nodes: int

    @classmethod
    def of(cls, lattice: Lattice, closing: str) -> _Graph:
        """The graph of a lattice, with one more character at the end of every string if wanted."""
        last = lattice.n_nodes - 1
        closed = ((last, last + 1, closing),) if closing else ()
        return cls(lattice.edges + closed, last + 1 + len(closed))

    def places(self) -> list[int]:
        """Where the cells of each edge begin when those of all edges stand in a row, and where they end."""
        return [0, *accumulate(len(text) + 1 for _, _, text in self.edges)]

    def turned(self) -> tuple[_Graph, NDArray[np.int64]]:
        """The graph read from its end, and the order that puts its cells as they stand in this one."""
        last = self.n_nodes - 1
        order = sorted(range(len(self.edges)), key=lambda i: last - self.edges[i][1])
        turned = [(last - end, last - start, text[::-1]) for start, end, text in (self.edges[i] for i in order)]
        graph = _Graph(tuple(turned), self.n_nodes)
        cells = np.empty(sum(len(text) + 1 for _, _, text in turned), dtype=np.int64)
        places = self.places()
        for i, place in zip(order, graph.places(), strict=False):
            length = len(self.edges[i][2])
            cells[places[i] : places[i] + length + 1] = np.arange(place + length, place - 1, -1)
        return graph, cells

    def outgoing(self) -> list[list[Edge]]:
        """Edges by the node that they start from."""
        found: list[list[Edge]] = [[] for _ in range(self.n_nodes)]
        for edge in self.edges:
            found[edge[0]].append(edge)
        return found


def _remaining(graph: _Graph, against: _Graph, limit: int) -> Callable[[int], Values]:
    """Edits still needed from a node of a graph, at every cell of the other one, to the ends of both."""
    turned, order = against.turned()
    pattern = _Pattern(turned, limit)
    arriving: list[list[_Row]] = [[] for _ in range(graph.n_nodes)]
    arriving[0].append(pattern.start())
    rows: list[_Row] = []
    for node, outgoing in enumerate(graph.turned()[0].outgoing()):
        rows.append(pattern.least(arriving[node]))
        for _, end, text in outgoing:
            arriving[end].append(pattern.advance(rows[node], text))
    return lambda node: pattern.values(rows[graph.n_nodes - 1 - node])[order]


def nearest_string(lattice: Lattice, against: Lattice) -> str:
    """The string of one lattice with the fewest edits to any string of another.

    Args:
        lattice: Where the string is chosen from.
        against: What it is compared with.

    Returns:
        Among the strings with the fewest character edits (insertions, deletions, replacements) one whose first choice
        comes as early as possible, then its second, and so on.
    """
    if lattice.count == 1 or lattice.canonical == against.canonical:
        return lattice.canonical
    if lattice.count * against.count <= _FEW_PAIRS:
        return _nearest_of_few(lattice, against)
    limit = Levenshtein.distance(lattice.canonical, against.canonical)
    if against.count > 1 and limit > _NEAR:
        # The nearest to one string of the other side is found sooner, and bounds the rest.
        near = _nearest(lattice, against.only_canonical(), limit)
        limit = Levenshtein.distance(near, against.canonical)
        if limit == 0:
            return near
    return _nearest(lattice, against, limit)


def _nearest_of_few(lattice: Lattice, against: Lattice) -> str:
    """`nearest_string` by comparing every pair; strings come in the order of their choices, so the first least wins."""
    others = list(against.strings())
    nearest, least = lattice.canonical, Levenshtein.distance(lattice.canonical, against.canonical)
    for string in lattice.strings():
        for other in others:
            distance = Levenshtein.distance(string, other, score_cutoff=least)
            if distance < least:
                nearest, least = string, distance
    return nearest


def _nearest(lattice: Lattice, against: Lattice, limit: int) -> str:
    """`nearest_string`, when it is known that some pair is no more than `limit` apart."""
    # A character that ends every string on both sides changes no distance and leaves no side empty.
    closing = "" if lattice.edges and against.edges else "\0"
    graph, other = _Graph.of(lattice, closing), _Graph.of(against, closing)
    remaining, outgoing, pattern = _remaining(graph, other, limit), graph.outgoing(), _Pattern(other, limit)
    row, node, chosen = pattern.start(), 0, []
    while outgoing[node]:
        steps = [(end, text, pattern.advance(row, text)) for _, end, text in outgoing[node]]
        if len(steps) > 1:
            steps = [min(steps, key=lambda step: int((pattern.values(step[2]) + remaining(step[0])).min()))]
        node, text, row = steps[0]
        chosen.append(text)
    return "".join(chosen).removesuffix(closing)
