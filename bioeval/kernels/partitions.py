"""Partitions: attempts and searches of parts of a matrix that is sorted once.

A part has some rows and some columns: masks are int8, (parts, rows) and (parts, columns), with 1
for rows and columns in the part.
"""

from __future__ import annotations

import numpy as np

from bioeval.kernels.compiling import compiled


@compiled
def pick_attempts(probe, target, value, step, rows, columns, picked, attempts_of_part):
    """Write the values of the attempts of each part, part by part, in the order of the list.

    ::

        for part in parts:
            for i, j, x in zip(probe, target, value):
                if rows[part, i] and columns[part, j]:
                    picked.append(part * step + x)
                    attempts_of_part[part] += 1

    - `probe`, `target` (uint16 (k,)): row and column of each attempt; `value` (int32 (k,))
    - `picked` (int64, written): room for all attempts in each part, and one more
    - `attempts_of_part` (int64 (parts,), written): the number of picked values of each part

    No branch depends on a mask: it would be mispredicted for every second attempt.
    """
    end = 0
    for part in range(len(rows)):
        row, column, start = rows[part], columns[part], end
        for k in range(len(probe)):
            picked[end] = part * step + value[k]
            end += np.int64(row[probe[k]] & column[target[k]])
        attempts_of_part[part] = end - start


@compiled
def first_of_claims(positions, attempts_of_part, claim, seen, first_positions, number_first):
    """Write the positions of a list at which a claim of a part is met for the first time.

    ::

        for part in parts:
            seen = set()
            for position in positions of part:
                if claim[position] not in seen:
                    first_positions.append(position)
                    number_first[part] += 1
                    seen.add(claim[position])

    - `positions` (int64), `attempts_of_part`: as :func:`pick_attempts` writes them
    - `claim` (int32 (k,)): the claim to which each attempt of the list belongs
    - `seen` (int32 (claims,), 0, written): the last part in which each claim was met, from 1
    - `first_positions`, `number_first`: written, in the form of `positions` and
      `attempts_of_part`
    """
    begin, end = 0, 0
    for part in range(len(attempts_of_part)):
        start = end
        for k in range(begin, begin + attempts_of_part[part]):
            current = claim[positions[k]]
            first_positions[end] = positions[k]
            end += seen[current] != part + 1
            seen[current] = part + 1
        begin += attempts_of_part[part]
        number_first[part] = end - start


@compiled
def rank_in_parts(mates, others, rows, columns, ranked):
    """Find the best mate of each probe in each part, and count the closer and tied `others`.

    ::

        for part, i in parts and probes:
            best = the least code of a mate in the part
            closer = others in the part with a lesser code
            tied = others in the part with the same code
            before = tied others in an earlier column than the best mate
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
            best, first_column = -1, -1
            for k in range(mate_starts[i], mate_starts[i + 1]):
                if best >= 0 and mate_code[k] > best:
                    break
                if column[mate[k]]:
                    best = mate_code[k]
                    first_column = mate[k] if first_column < 0 else min(first_column, mate[k])
            closer, tied, before, nearest = 0, 0, 0, -1
            for k in range(other_starts[i], other_starts[i + 1]):
                code = other_code[k]
                if code > best and nearest >= 0:
                    break
                if column[other[k]]:
                    nearest = code if nearest < 0 else nearest
                    closer += code < best
                    tied += code == best
                    before += (code == best) & (other[k] < first_column)
            ranked[0, part, i] = best
            ranked[1, part, i] = closer
            ranked[2, part, i] = tied
            ranked[3, part, i] = before
            ranked[4, part, i] = nearest
