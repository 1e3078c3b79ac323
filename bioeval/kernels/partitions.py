"""Partitions: attempts and searches of parts of a matrix that is sorted once.

A part is a mask of both sides. Masks are int8, 1 of members of the part, (parts, rows) and (parts,
columns).
"""

from __future__ import annotations

import numpy as np

from bioeval.kernels.compiling import compiled


@compiled
def pick_attempts(probe, target, value, step, rows, columns, picked, number):
    """Write the values of the attempts of each part, in the order of a list, part by part.

    ::

        for part in parts:
            for i, j, x in zip(probe, target, value):
                if rows[part, i] and columns[part, j]:
                    picked.append(part * step + x)
                    number[part] += 1

    - `probe`, `target` (uint16 (k,)): row and column of each attempt; `value` (int32 (k,))
    - `picked` (int64, written): room for all attempts in each part, and one more
    - `number` (int64 (parts,), written)

    No branch depends on a mask: it would be mispredicted for every second attempt.
    """
    end = 0
    for part in range(len(rows)):
        row, column, start = rows[part], columns[part], end
        for k in range(len(probe)):
            picked[end] = part * step + value[k]
            end += np.int64(row[probe[k]] & column[target[k]])
        number[part] = end - start


@compiled
def first_of_claims(places, number, claim, seen, kept, number_kept):
    """Write the places of a list at which a claim of a part is met for the first time.

    ::

        for part in parts:
            seen = set()
            for place in places_of(part):
                if claim[place] not in seen:
                    kept.append(place)
                    seen.add(claim[place])

    - `places` (int64), `number`: as :func:`pick_attempts` writes them
    - `claim` (int32 (k,)): the claim that each attempt of the list is of
    - `seen` (int32 (claims,), 0, written): the last part in which each claim was met, from 1
    - `kept`, `number_kept`: written, as places and number
    """
    begin, end = 0, 0
    for part in range(len(number)):
        start = end
        for k in range(begin, begin + number[part]):
            of = claim[places[k]]
            kept[end] = places[k]
            end += seen[of] != part + 1
            seen[of] = part + 1
        begin += number[part]
        number_kept[part] = end - start


@compiled
def rank_in_parts(mates, others, rows, columns, ranked):
    """Find the best mate of each probe in each part, and how the others stand to it.

    ::

        for part, i in parts and probes:
            best = the least code of a mate in the part
            closer = others in the part with a lesser code
            tied, before = those with the same code; and of them, in an earlier column
            nearest = the least code of an other in the part

    - `mates`, `others`: ``starts`` (int64 (m + 1,)), ``column`` (uint16) and ``code`` (int32) of
      the candidates of each probe, from near to far
    - `ranked` (int32 (5, parts, m), -1, written): `best`, `closer`, `tied`, `before` and `nearest`
      of the probes of each part; without a mate or an other, the code stays -1
    """
    mate_starts, mate, mate_code = mates
    other_starts, other, other_code = others
    for part in range(len(rows)):
        column = columns[part]
        for i in range(rows.shape[1]):
            if not rows[part, i]:
                continue
            best, first = -1, -1
            for k in range(mate_starts[i], mate_starts[i + 1]):
                if best >= 0 and mate_code[k] > best:
                    break
                if column[mate[k]]:
                    best = mate_code[k]
                    first = mate[k] if first < 0 else min(first, mate[k])
            closer, tied, before, nearest = 0, 0, 0, -1
            for k in range(other_starts[i], other_starts[i + 1]):
                code = other_code[k]
                if code > best and nearest >= 0:
                    break
                if column[other[k]]:
                    nearest = code if nearest < 0 else nearest
                    closer += code < best
                    tied += code == best
                    before += (code == best) & (other[k] < first)
            ranked[0, part, i] = best
            ranked[1, part, i] = closer
            ranked[2, part, i] = tied
            ranked[3, part, i] = before
            ranked[4, part, i] = nearest
