"""Identified probes at FAR targets, with the people of the probes resampled."""

from bioeval.kernels.compiling import parallel_rows


@parallel_rows("detected")
def detect_at_targets(begin, end, detected, weights, allowed, impostor, genuine, below):
    """Write the weight of the identified probes below the distance of each target.

    - `detected` (float64 (columns, targets)): written
    - `weights` (float32 (columns, subjects)): whole numbers
    - `allowed` (int64 (columns, targets)): false accepts that each target allows, ascending
    - `impostor` (tuple of int64 (n,) and bool (n,)): of the impostor attempts in order of distance:
      the person, and whether the next one is farther
    - `genuine` (tuple of int64 (k,) and float64 (k,)): of the identified probes in order of
      distance: the person and the weight
    - `below` (int64 (n + 1,)): identified probes nearer than each impostor attempt, and all
    """
    person, is_last = impostor
    identified, share = genuine
    for c in range(begin, end):
        weight = weights[c]
        accepted = 0.0
        nearer = 0
        counted = 0
        total = 0.0
        for t in range(allowed.shape[1]):
            while nearer < len(person):
                more = 0.0
                i = nearer
                while True:  # those at one distance are accepted together
                    more += weight[person[i]]
                    i += 1
                    if is_last[i - 1]:
                        break
                if accepted + more > allowed[c, t]:
                    break
                accepted += more
                nearer = i
            while counted < below[nearer]:
                total += weight[identified[counted]] * share[counted]
                counted += 1
            detected[c, t] = total
