"""Sums of the logarithmic losses of a logistic regression.

Each row has its own sums, which are added up afterwards in the order of the rows. The result is
therefore the same on any number of threads.
"""

import numpy as np

from bioeval.kernels.compiling import parallel_rows


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
