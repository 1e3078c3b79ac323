"""A small result of each public call, for tests of what readers are shown."""

import numpy as np

import bioeval as be

WHO = np.repeat(list("abcdef"), 3)
META = {
    "camera": np.tile([1, 2, 3], 6), "sex": np.repeat(["f", "m"], 9),
}  # fmt: skip
GROUND = [[1, 1, 0, 0, 10, 10, 1, 1, 1], [2, 1, 0, 0, 10, 10, 1, 1, 1]]


def square(name: str | None = "square", random_state: int = 1) -> be.Scores:
    simulated = be.simulate(6, 3, random_state=random_state)
    return be.Scores(simulated.values, WHO, probe_meta=META, name=name)


def street() -> be.Scores:
    values = np.asarray(square().values)
    side = {"camera": np.repeat([1, 2], [9, 9])}
    return be.Scores(values[:9, 9:], WHO[:9], WHO[:9], probe_meta={"camera": side["camera"][:9]},
                     gallery_meta={"camera": side["camera"][9:]})  # fmt: skip


def cut() -> object:
    return be.partition.ProbeGallerySplit(1, n_repeats=2, random_state=0)


EVEN, ODD = np.arange(0, 18, 2), np.arange(1, 18, 2)
HALVES = [be.partition.ProbesGallery(EVEN, ODD), be.partition.ProbesGallery(ODD, EVEN)]
FEW = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}

#: For each public call that returns a result: the call, and a text of its table.
SMALL_RESULTS = {
    "evaluate": (lambda: be.evaluate(square()), "Closed-set identification"),
    "verification": (lambda: be.verification(square()), "Verification, single-template"),
    "open_set": (lambda: be.open_set(square()), "Open-set identification"),
    "closed_set": (lambda: be.closed_set(square()), "recognition rate"),
    "ranks": (lambda: be.ranks(square()), "nearest other"),
    "reid": (lambda: be.reid(street()), "mAP"),
    "gom": (lambda: be.gom(street()), "max mReP"),
    "gom_from_curves": (lambda: be.gom_from_curves([0.1, 1], mrep=[0, 1], mfr=[0, 1]), "MREP"),
    "with_failures": (lambda: be.with_failures(be.verification(square()), fta=0.1), "FTA 10 %"),
    "judge_threshold": (lambda: be.judge_threshold(square(), square()), "FAR"),
    "zoo": (lambda: be.zoo(square(), permutations=20), "Concentration of errors"),
    "by_group": (lambda: be.by_group(square(), "sex"), "Verification by group"),
    "compare": (lambda: be.compare(square(), square(random_state=2)), "Comparison of systems"),
    "cross_evaluate": (
        lambda: be.cross_evaluate(square(), be.partition.SubjectKFold(2)), "SubjectKFold",
    ),
    "aggregate": (lambda: be.aggregate(be.repeat(square(), HALVES)), "pooled"),
    "repeat": (lambda: be.repeat(square(), HALVES), "2 partitions"),
    "study_threshold": (
        lambda: be.study_threshold(square(), "eer", folds=2, repeats=2, **FEW), "new people",
    ),
    "check_promise": (lambda: be.check_promise(square(), 3.0, "far=0.1"), "at most 10 %"),
    "conventions": (lambda: be.conventions(street()), "Conventions"),
    "gallery_size": (lambda: be.gallery_size(square(), max_rank=2), "against gallery size"),
    "worst_pairs": (lambda: be.worst_pairs(square(), 2), "Nearest impostor pairs"),
    "tracking": (lambda: be.tracking(np.array(GROUND), np.array(GROUND)), "MOTA"),
    "check_data": (lambda: be.check_data(square()), "course-all-vs-all"),
    "explain": (lambda: be.explain(square(), 0), "What this row adds"),
}  # fmt: skip
