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

from collections.abc import Iterator
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


@dataclass(frozen=True, slots=True)
class _Row:
    """Edit distances of one prefix (of some path of the other side) to every prefix of the pattern's paths.

    Attributes:
        nodes: Distance at every node of the pattern, at most limit + 1.
        up: Per edge of the pattern, bit p set where cell p + 1 is one more than cell p; or `_ASLEEP`.
        down: The same where it is one less.
    """

    nodes: tuple[int, ...]
    up: tuple[int, ...]
    down: tuple[int, ...]


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
        self._places = graph.places()
        self._sizes = np.array([length + 1 for _, _, _, length, _ in self._edges])
        self._bytes = [(length + 7) // 8 for _, _, _, length, _ in self._edges]
        self._bit_of_cell = self._layout()

    def _layout(self) -> Values:
        """Where the bit of every cell stands when the edges' vectors are put together in whole bytes.

        The first cell of an edge has no bit; it is given one behind all others, which is never set.
        """
        nowhere, first, layout = 8 * sum(self._bytes), 0, []
        for (_, _, _, length, _), size in zip(self._edges, self._bytes, strict=True):
            layout += [nowhere, *range(first, first + length)]
            first += 8 * size
        return np.array(layout, dtype=np.int64)

    def start(self) -> _Row:
        """Distances of the empty prefix."""
        nodes = [0] + [self._limit + 1] * (self._n_nodes - 1)
        ups = []
        for _, start, end, length, _ in self._edges:
            nodes[end] = min(nodes[end], nodes[start] + length)
            ups.append((1 << length) - 1 if nodes[start] <= self._limit else _ASLEEP)
        return _Row(tuple(nodes), tuple(ups), (0,) * len(ups))

    def advance(self, row: _Row, text: str) -> _Row:
        """Distances after more characters of the other side."""
        nodes, ups, downs, limit = list(row.nodes), list(row.up), list(row.down), self._limit
        for char in text:
            old, nodes = nodes, [min(nodes[0], limit) + 1] + [limit + 1] * (self._n_nodes - 1)
            for i, start, end, length, mask in self._edges:
                if ups[i] != _ASLEEP:
                    ups[i], downs[i], value = _step(
                        ups[i], downs[i], mask.get(char, 0), length, old[start], nodes[start] - old[start]
                    )
                    if nodes[start] - downs[i].bit_count() > limit:
                        ups[i] = _ASLEEP
                elif nodes[start] <= limit:
                    # No cell was within the limit before, so those from here on are reached by insertions alone.
                    ups[i], downs[i], value = (1 << length) - 1, 0, nodes[start] + length
                else:
                    continue
                if value < nodes[end]:
                    nodes[end] = value
        return _Row(tuple(nodes), tuple(ups), tuple(downs))

    def values(self, row: _Row) -> Values:
        """Distances of a row spelled out: edge by edge, those at its cells 0 to its length."""
        ups = (max(up, 0) for up in row.up)
        steps = self._spread(ups) - self._spread(iter(row.down))
        total = steps.cumsum()
        starts = np.array([row.nodes[start] for _, start, _, _, _ in self._edges])
        cells: Values = total + np.repeat(starts - total[self._places], self._sizes)
        return cells

    def least(self, rows: list[_Row]) -> _Row:
        """The cell by cell minimum of several rows."""
        if len(rows) == 1:
            return rows[0]
        cells = np.minimum.reduce([self.values(row) for row in rows])
        steps = np.diff(cells, prepend=0)
        awake = np.minimum.reduceat(cells, self._places) <= self._limit
        ups = [up if is_awake else _ASLEEP for up, is_awake in zip(self._gathered(steps > 0), awake, strict=True)]
        nodes = tuple(map(min, zip(*(row.nodes for row in rows), strict=True)))
        return _Row(nodes, tuple(ups), tuple(self._gathered(steps < 0)))

    def _spread(self, vectors: Iterator[int]) -> Values:
        """Bits of every edge as 0 and 1 at its cells from the second on."""
        packed = b"".join(v.to_bytes(size, "little") for v, size in zip(vectors, self._bytes, strict=True))
        bits = np.unpackbits(np.frombuffer(packed + b"\0", dtype=np.uint8), bitorder="little")
        return bits[self._bit_of_cell].astype(np.int64)

    def _gathered(self, at_cells: NDArray[np.bool_]) -> Iterator[int]:
        """Bits of every edge from what holds at its cells."""
        bits = np.zeros(8 * (sum(self._bytes) + 1), dtype=np.bool_)
        bits[self._bit_of_cell] = at_cells
        packed = np.packbits(bits, bitorder="little").tobytes()
        for end, size in zip(accumulate(self._bytes), self._bytes, strict=True):
            yield int.from_bytes(packed[end - size : end], "little")


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
        """Where the cells of each edge begin when those of all edges stand in a row."""
        return [0, *accumulate(len(text) + 1 for _, _, text in self.edges)][:-1]

    def turned(self) -> tuple[_Graph, NDArray[np.int64]]:
        """The graph read from its end, and the order that puts its cells as they stand in this one."""
        last = self.n_nodes - 1
        order = sorted(range(len(self.edges)), key=lambda i: last - self.edges[i][1])
        turned = [(last - end, last - start, text[::-1]) for start, end, text in (self.edges[i] for i in order)]
        graph = _Graph(tuple(turned), self.n_nodes)
        cells = np.empty(sum(len(text) + 1 for _, _, text in turned), dtype=np.int64)
        places = self.places()
        for i, place in zip(order, graph.places(), strict=True):
            length = len(self.edges[i][2])
            cells[places[i] : places[i] + length + 1] = np.arange(place + length, place - 1, -1)
        return graph, cells

    def outgoing(self) -> list[list[Edge]]:
        """Edges by the node that they start from."""
        found: list[list[Edge]] = [[] for _ in range(self.n_nodes)]
        for edge in self.edges:
            found[edge[0]].append(edge)
        return found


def _remaining(graph: _Graph, against: _Graph, limit: int) -> list[Values]:
    """Edits still needed from every node of a graph, at every cell of the other one, to the ends of both."""
    turned, order = against.turned()
    pattern = _Pattern(turned, limit)
    arriving: list[list[_Row]] = [[] for _ in range(graph.n_nodes)]
    arriving[0].append(pattern.start())
    found: list[Values] = []
    for node, outgoing in enumerate(graph.turned()[0].outgoing()):
        row = pattern.least(arriving[node])
        found.append(pattern.values(row)[order])
        for _, end, text in outgoing:
            arriving[end].append(pattern.advance(row, text))
    return found[::-1]


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
    # A character that ends every string on both sides changes no distance and leaves no side empty.
    closing = "" if lattice.edges and against.edges else "\0"
    graph, other = _Graph.of(lattice, closing), _Graph.of(against, closing)
    limit = Levenshtein.distance(lattice.canonical, against.canonical)
    remaining, outgoing, pattern = _remaining(graph, other, limit), graph.outgoing(), _Pattern(other, limit)
    row, node, chosen = pattern.start(), 0, []
    while outgoing[node]:
        steps = [(end, text, pattern.advance(row, text)) for _, end, text in outgoing[node]]
        if len(steps) > 1:
            steps = [min(steps, key=lambda step: int((pattern.values(step[2]) + remaining[step[0]]).min()))]
        node, text, row = steps[0]
        chosen.append(text)
    return "".join(chosen).removesuffix(closing)
