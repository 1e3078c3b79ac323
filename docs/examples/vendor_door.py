"""A door for 180 employees: two cameras, three tries a visit, three enrolled images.

The script makes the data: three images of each employee are enrolled, and each employee comes
twice to each camera and tries three times. It chooses a threshold for exactly this, and proves it
on other people. Run it in an empty folder; it writes vendor.html there.
"""

import warnings

import numpy as np

import bioeval as be

ENROLLED, CAMERAS, VISITS, TRIES = 3, ("front", "garage"), 2, 3


def recorded(employees, seed):
    """Return the scores of a test: enrolled images, and tries at both cameras."""
    rng = np.random.default_rng(seed)
    people = rng.normal(size=(employees, 20))
    number = np.arange(employees)

    def images(each, spread):
        return np.repeat(people, each, axis=0) + spread * rng.normal(size=(employees * each, 20))

    visits = len(CAMERAS) * VISITS
    tries = images(visits * TRIES, 0.6)
    tries += np.repeat(0.5 * rng.normal(size=(employees * visits, 20)), TRIES, axis=0)
    meta = {
        "camera": np.tile(np.repeat(CAMERAS, VISITS * TRIES), employees),
        "visit": np.tile(np.repeat(np.arange(visits), TRIES), employees),
    }
    return be.Scores.from_embeddings(
        tries,
        np.repeat(number, visits * TRIES),
        images(ENROLLED, 0.6),
        np.repeat(number, ENROLLED),
        metric="cosine",
        probe_meta=meta,
    )


test, others = recorded(180, seed=1), recorded(400, seed=2)

# What is decided: a visit of up to three tries, at the three enrolled images of one employee.
claims = be.claim_scores(test, attempts="visit")

# One threshold for each camera.
studies = {}
for camera in CAMERAS:
    there = claims.select(probes=np.flatnonzero(claims.probe_meta["camera"] == camera))
    study = be.study_threshold(there, "far=0.01", assure=0.95, repeats=5)
    print(f"\n{camera}")
    be.show(study)
    studies[camera] = study

# Does it hold for people who had no part in choosing it?
for camera, study in studies.items():
    there = others.select(probes=np.flatnonzero(others.probe_meta["camera"] == camera))
    print(f"\n{camera}: others")
    there = be.claim_scores(there, attempts="visit")
    be.show(be.check_promise(there, study.assured_threshold.item(), "far=0.01"))

# What would fewer enrolled images cost?
for enrol in (1, 2, 3):
    fewer = be.claim_scores(test, attempts="visit", enrol=f"first:{enrol}")
    ds = be.verification(fewer, far_targets=[0.01], auc=False)
    print(f"{enrol} enrolled: FRR {ds.frr_at_far.item():.2%} at {ds.threshold_at_far.item():.3f}")

# What happens on a day with 180 employees?
at = min(study.assured_threshold.item() for study in studies.values())
rates = be.verification(claims, thresholds=[at], interval="people")
print(f"In a day: {180 * rates.frr.item():.2g} employees rejected")

# The page for the customer: all numbers are at the threshold of the front camera.
at = studies["front"].assured_threshold.item()
front = test.select(probes=np.flatnonzero(test.probe_meta["camera"] == "front"))
claims = be.claim_scores(front, attempts="visit")
thresholds = np.union1d(be.verification(claims).threshold, at)
rates = be.verification(claims, thresholds=thresholds, interval="people")
# A claim has one score for all enrolled images, so goats and lambs have no halves to test.
warnings.filterwarnings("ignore", "the test of (goats|lambs)")
who = [be.zoo(claims, threshold=at), be.check_data(front, claims=claims)]
be.report([rates, *who], "vendor.html", title="Front camera")
