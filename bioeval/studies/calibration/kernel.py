"""Sums of logarithmic losses: of log-likelihood ratios, and of a logistic regression.

Each row has sums of its own, which are added afterwards, so that they are the same on any number of
threads.
"""

import numpy as np

from bioeval.kernels.compiling import called_by_loops, parallel_rows


@called_by_loops
def softplus(x):
    """Return ``log(1 + e^x)`` without overflow."""
    return max(x, 0.0) + np.log1p(np.exp(-abs(x)))


@parallel_rows("sums")
def softplus_sums(begin, end, block, sign, shifts, sums):
    """Sum ``log(1 + exp(sign * x + shifts[k]))`` over the scores of each row.

    ::

        for i, row in enumerate(block):
            for k, shift in enumerate(shifts):
                sums[i, k] = sum(log(1 + exp(sign * x + shift)) for x in row if not NaN)

    `shifts` increase; the float64 `sums`, shape (rows, shifts), are written. Terms are multiplied
    as long as their product is far from overflowing, so that there is one logarithm for many of
    them: ``1 + e^x e^shift`` needs a single exponential a score.
    """
    number = len(shifts)
    factor = np.exp(shifts - shifts[number - 1])
    product = np.empty(number)
    for i in range(begin, end):
        row = block[i]
        total = sums[i]
        for k in range(number):
            total[k] = 0.0
            product[k] = 1.0
        for j in range(len(row)):
            x = sign * np.float64(row[j]) + shifts[number - 1]
            if x != x or x == -np.inf:
                continue
            if x > 40.0:  # rare: large terms one by one
                for k in range(number):
                    total[k] += softplus(sign * np.float64(row[j]) + shifts[k])
                continue
            largest = np.exp(x)
            for k in range(number):
                product[k] *= 1.0 + largest * factor[k]
            if product[number - 1] > 1e200:
                for k in range(number):
                    total[k] += np.log(product[k])
                    product[k] = 1.0
        for k in range(number):
            total[k] += np.log(product[k])


@parallel_rows("classes")
def logistic_sums(begin, end, classes, stack, origin, inverse, weights, sums):
    """Sum the loss of a logistic regression, its gradient and its Hessian, by row and class.

    ::

        for i, j in attempts of a class (sign 1 of impostors, -1 of genuine attempts):
            z = weights @ x, with x = the scores of all systems, scaled, and 1
            loss += log(1 + exp(sign * z))
            gradient += sign * p * x, with p = 1 / (1 + exp(-sign * z))
            hessian += p * (1 - p) * outer(x, x)

    `classes`, uint8 of shape (rows, columns), are 1 for impostors and 2 for genuine attempts, 0 for
    neither; `stack`, float64 of shape (systems, rows, columns), the scores, of which an attempt
    with one that is not finite is left out. ``z = sum_k weights[k] x_k + weights[systems]`` with
    ``x_k = (stack[k] - origin[k]) * inverse[k]``. ``sums[row, class - 1]`` gets the number of
    attempts, the loss, the gradient, the upper triangle of the Hessian, and the smallest and the
    largest ``z``.
    """
    systems = len(stack)
    x = np.ones(systems + 1)
    for i in range(begin, end):
        sums[i] = 0.0
        sums[i, :, -2] = np.inf
        sums[i, :, -1] = -np.inf
        for j in range(classes.shape[1]):
            c = classes[i, j]
            if c == 0:
                continue
            z = weights[systems]
            for k in range(systems):
                x[k] = (stack[k, i, j] - origin[k]) * inverse[k]
                z += weights[k] * x[k]
            if not abs(z) < np.inf:
                continue
            out = sums[i, c - 1]
            towards = z if c == 1 else -z  # the wrong side
            rest = np.exp(-abs(z))
            wrong = (1.0 if towards > 0 else rest) / (1.0 + rest)
            slope = wrong if c == 1 else -wrong
            curvature = rest / ((1.0 + rest) * (1.0 + rest))
            out[0] += 1.0
            out[1] += max(towards, 0.0) + np.log1p(rest)
            place = 2
            for k in range(systems + 1):
                out[place] += slope * x[k]
                place += 1
            for k in range(systems + 1):
                for other in range(k, systems + 1):
                    out[place] += curvature * x[k] * x[other]
                    place += 1
            out[place] = min(out[place], z)
            out[place + 1] = max(out[place + 1], z)
