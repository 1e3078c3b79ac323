"""Disjoint pairs of subjects: the most pairs without a common member (Edmonds 1965)."""

from __future__ import annotations

import numpy as np

from bioeval.kernels.compiling import called_by_loops, compiled

# Labels of a member in a search: not visited; at an even or odd distance from the root; visited by
# an earlier search that gained no pair, so that no later search can gain one through the member.
_FREE, _EVEN, _ODD, _DONE = 0, 1, 2, 3


@compiled
def match_in_order(probe_person, claimed_person, mate):
    """Take each pair whose members are not yet in a pair.

    ::

        for a, b in pairs:
            if mate[a] < 0 and mate[b] < 0:
                mate[a], mate[b] = b, a

    - `probe_person`, `claimed_person` (int64 (k,)): the members of each pair
    - `mate` (int64 (members,), changed): the member with whom each member is paired, or -1
    """
    for k in range(len(probe_person)):
        if mate[probe_person[k]] < 0 and mate[claimed_person[k]] < 0:
            mate[probe_person[k]], mate[claimed_person[k]] = claimed_person[k], probe_person[k]


@compiled
def match_most(start, neighbour, mate):
    """Change the pairs until their number is the largest possible.

    ::

        for root in members without a mate:
            path = root, ..., end: pairs and other neighbours in turn, end without a mate
            if path:
                its pairs become other neighbours, and its other neighbours pairs

    Odd circles on the way (blossoms) are shrunk to their base (Edmonds's algorithm).

    - `start` (int64 (members + 1,)): the neighbours of member ``i`` are ``neighbour[start[i] :
      start[i + 1]]``
    - `neighbour`: int64
    - `mate` (int64 (members,), changed): as in :func:`match_in_order`
    """
    n = len(mate)
    label = np.zeros(n, dtype=np.int8)
    visited = np.full(n, -1, dtype=np.int64)
    # Of an odd member, the even member from which it was reached; in a blossom, the next member the
    # other way round its circle. A path to the root takes parents and mates in turn.
    parent = np.full(n, -1, dtype=np.int64)
    base = np.arange(n)  # the next member towards the base of its blossom; a base has itself
    queue = np.empty(n, dtype=np.int64)  # members at an even distance, in the order of the search
    step = 0
    for root in range(n):
        if mate[root] >= 0 or start[root] == start[root + 1]:
            continue
        queue[0], label[root] = root, _EVEN
        head, tail, gained = 0, 1, False
        while head < tail and not gained:
            member = queue[head]
            head += 1
            for k in range(start[member], start[member + 1]):
                other = neighbour[k]
                # Nothing is gained by an odd member, which was reached before, by a member of an
                # earlier search, or inside a blossom.
                is_done = label[other] == _ODD or label[other] == _DONE
                if is_done or _base(base, other) == _base(base, member):
                    continue
                if label[other] == _FREE:
                    # The tree grows by `other` and its mate, or a path ends at `other`.
                    label[other], parent[other] = _ODD, member
                    if mate[other] < 0:
                        _exchange(parent, mate, other)
                        label[other] = _FREE
                        gained = True
                        break
                    label[mate[other]], queue[tail] = _EVEN, mate[other]
                    tail += 1
                    continue
                # Both members are even: with the ways to where they meet, they are an odd circle.
                step += 1
                common = _meeting(other, member, parent, base, mate, visited, step)
                for u, v in ((other, member), (member, other)):
                    tail = _shrink(u, v, common, parent, base, mate, label, queue, tail)
        _leave(queue[:tail], mate, label, parent, base, _FREE if gained else _DONE)


@called_by_loops
def _base(base, v):
    """Return the base of the blossom of `v`, or `v`; shorten the way to it for later calls."""
    while base[v] != v:
        base[v] = base[base[v]]
        v = base[v]
    return v


@called_by_loops
def _exchange(parent, mate, u):
    """Pair the end `u` of a path with its parent, the parent's former mate with its, and so on."""
    while u >= 0:
        v = parent[u]
        next_member = mate[v]
        mate[u], mate[v] = v, u
        u = next_member


@called_by_loops
def _meeting(u, v, parent, base, mate, visited, step):
    """Return the first base on the ways of both even members `u` and `v` to the root.

    The two go up in turn, and mark their bases by `step`, the number of this call; -1 is above the
    root.
    """
    while True:
        if u >= 0:
            u = _base(base, u)
            if visited[u] == step:
                return u
            visited[u] = step
            u = parent[mate[u]] if mate[u] >= 0 else -1
        u, v = v, u


@called_by_loops
def _shrink(u, v, common, parent, base, mate, label, queue, tail):
    """Shrink one side of a blossom, from `u` to `common`; return the new end of the queue.

    `u` and its neighbour `v` close the circle. Each even member gets its neighbour on the circle as
    a parent, for paths the other way round; each odd member becomes even, and is in the queue.
    """
    while _base(base, u) != common:
        parent[u] = v
        v = mate[u]
        if label[v] == _ODD:
            label[v], queue[tail] = _EVEN, v
            tail += 1
        if base[u] == u:
            base[u] = common
        if base[v] == v:
            base[v] = common
        u = parent[v]
    return tail


@called_by_loops
def _leave(tree, mate, label, parent, base, new_label):
    """Give the members that a search has visited (its queue, and their mates) a new label.

    They lose their parents and blossoms.
    """
    for v in tree:
        for u in (v, mate[v]):
            if u >= 0:
                label[u], parent[u], base[u] = new_label, -1, u
