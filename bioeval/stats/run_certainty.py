"""Standard errors of rates by how many people, templates and comparisons a run has.

People are drawn at random; errors of comparisons that share a person are alike. The model of the
genuine errors is that of :mod:`bioeval.stats.planning`; of the impostor errors it is a mean over
pairs of people, of which two that share a person have the correlation ``far_icc``.
"""

from __future__ import annotations

import math

from bioeval.stats.planning import Components


def frr_error(
    components: Components, subjects: float, probes: float, gallery: float, *, same: bool
) -> float:
    """Return the standard error of the FRR over all genuine comparisons.

    Each of so many subjects has `probes` probes and `gallery` gallery templates. With `same`, the
    probes are among the gallery templates, and none is compared with itself: all of them, or one.
    """
    if same and probes == gallery:
        return math.sqrt(components.subject_variance(int(gallery)) / subjects)
    others = gallery - 1 if same else gallery
    rest = components.total - components.between - 2 * components.template
    variance = components.between + components.template * (1 / probes + 1 / others)
    return math.sqrt((variance + rest / (probes * others)) / subjects)


def far_error(far: float, icc: float, probes: float, gallery: float, *, same: bool) -> float:
    """Return the standard error of the FAR over all pairs of a probe's and a gallery's subject.

    The comparisons of two people count as one, which they are where templates of a person are
    alike: the error is not smaller than so. With `same`, the subjects of the gallery are those of
    the probes, and each pair is one; otherwise the two sides are different people.
    """
    total = far * (1 - far)
    if same:
        pairs, sharing = gallery * (gallery - 1) / 2, 2 * (gallery - 2)
    else:
        pairs, sharing = probes * gallery, (probes - 1) + (gallery - 1)
    return math.sqrt(total * (1 + sharing * icc) / pairs)
