"""A threshold for a door: which number to install, what it promises, and whether people suffice.

Run it in an empty folder; it writes door.html there.
"""

import warnings

import bioeval as be

scores = be.datasets.faces("deep")  # in your work: be.load("scores.npz")

# Are the data sound? Look before you count.
be.show(be.check_data(scores))

# A threshold for FAR 5 %, which 20 people can promise, and what new people will meet at it. These
# data are too easy for an interval of the FRR over folds, as the study itself says.
warnings.filterwarnings("ignore", "FRR is 0 in every fold")
study = be.study_threshold(scores, "far=0.05", assure=0.95)
be.show(study)

# What happens on a day with 2,000 people at the door, one in a hundred of them an impostor?
there = study.threshold.item()
rates = be.verification(scores, thresholds=[there], interval="people")
accepted, rejected = 20 * rates.far.item(), 1980 * rates.frr.item()
print(f"In a day: {accepted:.2g} impostors accepted, {rejected:.2g} genuine people rejected")

be.report(study, "door.html")
