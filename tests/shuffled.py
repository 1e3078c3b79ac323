"""An executor that counts blocks of rows in any order, and some of them twice."""

from __future__ import annotations

from bioeval.base.executors import computed_by
from bioeval.tallies.parts import RowRangeCounts


class Shuffled:
    """Counts given blocks in some order; those that come twice are taken once, by their rows."""

    distributes, number = True, 1

    def __init__(self, cuts, order, twice):
        self.cuts, self.order, self.twice = cuts, order, twice

    def parts(self, row_pass, ranges, *, merging):
        """Yield the counts of the blocks between the cuts."""
        m = row_pass.scores.shape[0]
        ends = sorted({0, m, *(cut for cut in self.cuts if cut < m and cut % row_pass.step == 0)})
        rows = list(zip(ends[:-1], ends[1:], strict=True))
        again = [x for x, repeat in zip(rows, self.twice, strict=False) if repeat]
        taken = {}
        for low, high in sorted(rows + again, key=lambda x: self.order[x[0] % len(self.order)]):
            with computed_by(None):
                taken[low, high] = RowRangeCounts(((low, high),), row_pass.part(low, high))
        yield from taken.values()
