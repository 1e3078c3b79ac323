"""Sums of logarithmic losses: of log-likelihood ratios, and of a logistic regression.

Each row has its own sums, which are added up afterwards in the order of the rows. The result is
therefore the same on any number of threads.
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

    The `shifts` increase. The kernel writes `sums`, float64 of shape (rows, shifts).

    The terms ``1 + e^x e^shift`` are multiplied until their product is large, so that many of them
    need one logarithm only. Their ``e^x`` is the same for all shifts, so that a score needs one
    exponential only.
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
            if x > 40.0:  # such terms are rare, and too large for the product
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

    `classes`, uint8 of shape (rows, columns), are 1 for impostor attempts, 2 for genuine attempts,
    and 0 for neither. `stack` has the scores, float64 of shape (systems, rows, columns); an attempt
    is left out if its ``z`` is not finite. ``z = sum_k weights[k] x_k + weights[systems]`` with
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
            class_of_attempt = classes[i, j]
            if class_of_attempt == 0:
                continue
            z = weights[systems]
            for k in range(systems):
                x[k] = (stack[k, i, j] - origin[k]) * inverse[k]
                z += weights[k] * x[k]
            if not abs(z) < np.inf:
                continue
            sums_of_class = sums[i, class_of_attempt - 1]
            is_impostor = class_of_attempt == 1
            signed = z if is_impostor else -z  # above 0 on the wrong side
            exponential = np.exp(-abs(z))  # never overflows
            probability_wrong = (1.0 if signed > 0 else exponential) / (1.0 + exponential)
            slope = probability_wrong if is_impostor else -probability_wrong
            curvature = exponential / ((1.0 + exponential) * (1.0 + exponential))
            sums_of_class[0] += 1.0
            sums_of_class[1] += max(signed, 0.0) + np.log1p(exponential)
            index = 2
            for k in range(systems + 1):
                sums_of_class[index] += slope * x[k]
                index += 1
            for k in range(systems + 1):
                for other in range(k, systems + 1):
                    sums_of_class[index] += curvature * x[k] * x[other]
                    index += 1
            sums_of_class[index] = min(sums_of_class[index], z)
            sums_of_class[index + 1] = max(sums_of_class[index + 1], z)
