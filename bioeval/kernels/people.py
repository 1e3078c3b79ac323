"""The few scores of a block that matter to counts of people."""

from bioeval.kernels.compiling import compiled


@compiled
def list_accepted(values, limit, column, ends):
    """List where scores are at most a limit, or NaN; return how many there are.

    - `values`: float (h, w)
    - `column` (int32, written): room for as many places as there are scores, and one more
    - `ends` (int64 (h,), written): where the places of each row end
    """
    number = 0
    for i in range(values.shape[0]):
        line = values[i]
        for j in range(len(line)):
            column[number] = j
            number += not line[j] > limit
        ends[i] = number
    return number
