"""Disjoint pairs of subjects: the most pairs without a common member.

In graph theory, subjects are the vertices ("members" here), compared pairs the edges, and disjoint
pairs a matching. If the pairs 0-1, 1-2 and 2-3 were compared in another order, 1-2 first,
:func:`match_in_order` takes 1-2, and nothing is left for 0 and 3. :func:`match_most` improves this
along the path 0-1-2-3, whose edges are outside, in and outside the matching in turn, and whose ends
have no mate: exchanging these roles gives 0-1 and 2-3, one pair more. When no such augmenting path
is left, the matching is the largest (Berge 1957). Edmonds (1965, *Canadian J. Math.* 17) finds the
paths in any graph; the names are his: root, even and odd members, blossom, base.
"""

from __future__ import annotations

import numpy as np

from bioeval.kernels.compiling import called_by_loops, compiled

# Labels of a member in the search from a root. Even and odd: at an even or odd number of edges from
# the root. Done: visited by an earlier search without a path; no later path leads through it.
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
            grow a tree from the root: to any neighbour, and from there to the neighbour's mate
            if a neighbour without a mate is met:
                exchange the roles of the edges on its path to the root

    An edge between two even members closes a circle of an odd number of edges, a blossom. It is
    treated as one even member, its base, because each of its members can be reached from the root
    over an even number of edges: the one or the other way round the circle.

    - `start` (int64 (members + 1,)): the neighbours of member ``i`` are ``neighbour[start[i] :
      start[i + 1]]``
    - `neighbour`: int64
    - `mate` (int64 (members,), changed): as in :func:`match_in_order`
    """
    members = len(mate)
    label = np.zeros(members, dtype=np.int8)
    # The call of `_meeting` that visited a base last.
    visited = np.full(members, -1, dtype=np.int64)
    # Of an odd member, the even member from which it was reached; in a blossom, the next member the
    # other way round its circle. A path to the root takes parents and mates in turn.
    parent = np.full(members, -1, dtype=np.int64)
    base = np.arange(members)  # the next member towards the base of its blossom; a base has itself
    # The even members of a search, in the order in which they were reached: `queue[:head]` have
    # been grown from, `queue[head:tail]` wait.
    queue = np.empty(members, dtype=np.int64)
    meetings = 0  # calls of `_meeting`
    for root in range(members):
        has_neighbour = start[root] < start[root + 1]
        if mate[root] >= 0 or not has_neighbour:
            continue
        queue[0] = root
        label[root] = _EVEN
        head, tail = 0, 1
        is_path_found = False
        while head < tail and not is_path_found:
            member = queue[head]
            head += 1
            for position in range(start[member], start[member + 1]):
                other = neighbour[position]
                # An odd member is in the tree already, and a member of an earlier search is on no
                # path; an edge inside a blossom leads nowhere.
                is_passed = label[other] == _ODD or label[other] == _DONE
                if is_passed or _base(base, other) == _base(base, member):
                    continue
                if label[other] == _FREE:
                    label[other] = _ODD
                    parent[other] = member
                    if mate[other] < 0:  # a path ends here
                        _exchange(parent, mate, other)
                        is_path_found = True
                        break
                    # The tree grows by `other` and its mate.
                    label[mate[other]] = _EVEN
                    queue[tail] = mate[other]
                    tail += 1
                    continue
                # Both are even. With their ways to where these meet, they close a blossom.
                meetings += 1
                common = _meeting(other, member, parent, base, mate, visited, meetings)
                for u, v in ((other, member), (member, other)):
                    tail = _shrink(u, v, common, parent, base, mate, label, queue, tail)
        # A tree whose root has got a mate is free for later searches.
        _leave(queue[:tail], mate, label, parent, base, _FREE if is_path_found else _DONE)


@called_by_loops
def _base(base, v):
    """Return the base of the blossom of `v`, or `v` outside blossoms."""
    while base[v] != v:
        base[v] = base[base[v]]  # halves the way for later calls
        v = base[v]
    return v


@called_by_loops
def _exchange(parent, mate, u):
    """Exchange the roles of the edges on the path from its end `u` to the root.

    The end becomes the mate of its parent, the parent's former mate that of its own parent, and so
    on, up to the root, which had no mate (-1).
    """
    while u >= 0:
        v = parent[u]
        former_mate = mate[v]
        mate[u], mate[v] = v, u
        u = former_mate


@called_by_loops
def _meeting(u, v, parent, base, mate, visited, step):
    """Return the first base on the ways of both even members `u` and `v` to the root.

    Both go up in turn, an even member at a time, and mark the bases that they pass by `step`, the
    number of this call. The first base that is marked already is on both ways.
    """
    while True:
        if u >= 0:  # -1 is above the root
            u = _base(base, u)
            if visited[u] == step:
                return u
            visited[u] = step
            u = parent[mate[u]] if mate[u] >= 0 else -1
        u, v = v, u


@called_by_loops
def _shrink(u, v, common, parent, base, mate, label, queue, tail):
    """Shrink one side of a blossom, from `u` to its base `common`; return the new end of the queue.

    `u` and its neighbour `v` close the circle. Each even member gets its neighbour on the circle as
    a parent, for paths the other way round. Each odd member becomes even, and joins the queue.
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
    """Give the members of a tree, and their mates, a new label, and take their parents and bases.

    `tree` are its even members. Its odd members are mates of even ones, also after an exchange.
    """
    for v in tree:
        for u in (v, mate[v]):
            if u >= 0:
                label[u], parent[u], base[u] = new_label, -1, u
