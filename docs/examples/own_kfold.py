"""A k-fold script of one's own: threshold on the training folds, rates on the others.

It shows the loop that many people write, and the call that replaces it.
"""

import numpy as np
from scipy.stats import ks_2samp

import bioeval as be

scores = be.datasets.faces("eigenfaces")
folds = be.partition.SubjectKFold(5)

# The loop: choose at FAR 5 % on the training people, judge on the others.
rates = []
for train, test in folds.split(scores):
    chosen = be.verification(scores[train], far_targets=[0.05])
    at = be.verification(scores[test], thresholds=chosen.threshold_at_far.values)
    rates.append((at.far.item(), at.frr.item()))
print("by the loop:", np.round(np.mean(rates, axis=0), 4))

# The call: the same numbers, with their spread and an interval.
ds = be.cross_evaluate(scores, folds, threshold="far=0.05")
test = ds.sel(part="test")
np.testing.assert_allclose(np.stack([test.far, test.frr], axis=-1)[0], rates)
be.show(ds)

# A hundred partitions in one call.
many = be.partition.SubjectShuffleSplit(100, test_size=0.5, random_state=0)
eer = be.repeat(scores, many)["verification/single"].eer
print(f"EER of 100 halves: {eer.mean().item():.2%}, sd {eer.std(ddof=1).item():.2%}")

# A measure of one's own, over all scores of each half.
distance = be.make_scorer(lambda genuine, impostor: ks_2samp(genuine, impostor).statistic)
print("Kolmogorov-Smirnov:", round(distance.of_scores(scores), 3))
