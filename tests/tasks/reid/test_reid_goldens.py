"""Re-identification against what public reference programs return on the same matrices.

``tests/data/README.md`` lists the matrices, two of which lie beside it, and the programs. A
reference that sorts with an unstable sort leaves ties undefined: it is held to
the ends, pessimistic and optimistic. One that draws at random is held to its standard error.
"""

import json
from typing import Any

import numpy as np
import pytest
from reference import one_thread  # noqa: F401
from sklearn.metrics import roc_curve

import bioeval as be

#: The first and the last, which the default run has, lie in tests/data; the others are published.
CASES = (
    "multi_camera",
    "distances_on_threshold_grid",
    "junk_and_distractors",
    "large",
    "many_positives",
    "one_gallery_per_id_one_camera",
    "open_set_queries",
    "same_camera_only_matches",
    "single_shot_two_camera",
    "ties_large",
    "tiny",
    "two_camera",
    "ties_small",
)

# Reference function -> the convention that should give the same.
SAME: dict[str, tuple[str, dict[str, Any]]] = {
    "torchreid/eval_market1501": ("market1501", {"junk": "keep"}),
    "torchreid/eval_market1501_cython": ("market1501", {"junk": "keep"}),
    "fast_reid/eval_market1501": ("market1501", {"junk": "keep"}),
    "fast_reid/eval_market1501_cython": ("market1501", {"junk": "keep"}),
    "agw/eval_func": ("msmt17", {"junk": "keep"}),
    "vehicle_reid_baseline/eval_veri": ("veri776", {"junk": "keep"}),
    "vehicle_reid_baseline/eval_vehicleid": ("vehicleid", {"junk": "keep"}),
    "cross_modal/eval_sysu": ("identity-dedup", {}),
    "lomo_xqda/EvalCMC": ("viper", {}),
    "layumi/evaluate_gpu": ("market1501-original", {}),
    "market1501_matlab/evaluation": ("market1501-original", {}),
    "open_reid/mean_ap": ("open-reid", {}),
    "torchreid/eval_cuhk03": ("cuhk03-torchreid", {}),
}

# An output of a reference -> ours.
OUTPUT = {
    "cmc": "cmc",
    "CMC": "cmc",
    "identity_dedup_cmc": "cmc",
    "": "cmc",
    "mAP": "mean_ap",
    "map": "mean_ap",
    "mINP": "mean_inp",
    "all_AP": "average_precision",
    "ap": "average_precision",
    "all_INP": "inp",
}


@pytest.fixture(params=CASES)
def case(request, root) -> tuple[be.Scores, dict[str, np.ndarray]]:
    """A matrix, and what the reference programs return for it."""
    path = root / "tests" / "data" / "reid" / f"{request.param}.npz"
    if not path.exists():
        path = request.getfixturevalue("published") / "reid" / path.name
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    scores = be.Scores(
        arrays["distmat"],
        arrays["q_pids"],
        arrays["g_pids"],
        probe_meta={"camera": arrays["q_camids"]},
        gallery_meta={"camera": arrays["g_camids"]},
    )
    result = {k.removeprefix("ref/"): v for k, v in arrays.items() if k.startswith("ref/")}
    return scores, result


def kept(scores: be.Scores) -> np.ndarray:
    """The classes of the kept entries of each list, as a mask: 0 gone, 1 others, 2 mates."""
    same = scores.probe_labels[:, None] == scores.gallery_labels
    camera = scores.probe_meta["camera"][:, None] == scores.gallery_meta["camera"]
    return np.where(same & camera, 0, 1 + same)


class Ours:
    """Our results on one matrix, each computed once."""

    def __init__(self, scores: be.Scores):
        self.scores, self.results = scores, {}

    def __call__(self, convention: str, **options: Any):
        key = (convention, tuple(sorted(options.items())))
        if key not in self.results:
            self.results[key] = be.reid(self.scores, convention, per_query=True, **options)
        return self.results[key]


def tolerance(reference: np.ndarray, key: str) -> float:
    narrow = reference.dtype == np.float32 or "cython" in key
    return 3e-7 if narrow else 1e-12


def assert_equal(ours: np.ndarray, reference: np.ndarray, key: str) -> None:
    np.testing.assert_allclose(ours, reference, rtol=0, atol=tolerance(reference, key), err_msg=key)


def hold(results, output: str, reference: np.ndarray, key: str, *, unsure: bool) -> None:
    """Hold an output to ours under the reference's ties, or between the two ends."""

    def with_ties(ties: str) -> np.ndarray:
        values = results(ties)[output].values
        if output == "cmc":
            return values[: len(reference)]
        if output in ("average_precision", "inp") and len(reference) < len(values):
            return values[~np.isnan(values)]
        return values

    if not unsure:
        assert_equal(with_ties("stable"), reference, key)
        return
    low, high = with_ties("pessimistic"), with_ties("optimistic")
    slack = tolerance(reference, key)
    assert ((low - slack <= reference) & (reference <= high + slack) | np.isnan(low)).all(), key


def split(key: str) -> tuple[str, str, dict[str, str]]:
    """Return the function, the output and the marks of a key."""
    body, *marks = key.split("|")
    settings, tail = {}, ""
    for mark in marks:
        mark, _, further = mark.partition("/")
        name, _, value = mark.partition("=")
        settings[name] = value
        tail = further or tail
    for function in sorted([*SAME, "voc_reid/eval_results"], key=len, reverse=True):
        if body == function or body.startswith(function + "/"):
            return function, tail or body[len(function) + 1 :], settings
    return "", "", settings


@pytest.mark.cases(2)
def test_rankers(case):
    scores, result = case
    ours = Ours(scores)
    compared_keys = 0
    for key, reference in result.items():
        function, output, settings = split(key)
        if function not in SAME or output not in OUTPUT or "cuhk03/cmc" in key:
            continue
        if function == "open_reid/mean_ap":
            output = "mAP"
        convention, options = SAME[function]
        options = dict(options)
        if "gallery" in settings:
            options["removed"] = "same-camera"
        if "ties" in settings:
            options["ties"] = {"positives_first": "optimistic", "positives_last": "pessimistic"}[
                settings["ties"]
            ]
        if OUTPUT[output] == "cmc":
            options["max_rank"] = len(reference)
            if "cython" in function and len(reference) > len(scores.gallery_labels) - 20:
                continue  # past the end of a short list it returns what was there before

        def results(ties: str, convention=convention, options=options):
            return ours(convention, **{"ties": ties, **options})

        backwards = function.startswith("layumi") and bool(settings)
        unsure = settings.get("sort") == "default" or backwards
        hold(results, OUTPUT[output], reference, key, unsure=unsure)
        compared_keys += 1
    assert compared_keys >= 3


@pytest.mark.cases(2)
def test_open_reid_with_its_flags(case):
    scores, result = case
    for key, reference in result.items():
        if not key.startswith("open_reid/cmc/") or key.endswith(("standard_error", "n_calls")):
            continue
        flags, *marks = key.removeprefix("open_reid/cmc/").removesuffix("/mean").split("|")
        chosen = {k: v == "1" for k, v in (word.split("=") for word in flags.split(","))}
        rules = {"cmc": "first-match" if chosen["first_match_break"] else "allshots"}
        if chosen["single_gallery_shot"]:
            rules["cmc"] = "single-gallery-shot"
        if chosen["separate_camera_set"]:
            rules |= {"removed": "same-camera", "removed_for_ap": "same-id-same-camera"}

        length = len(reference)

        def results(ties: str, rules=rules, length=length):
            return be.reid(scores, "open-reid", max_rank=length, ties=ties, **rules)

        if key.endswith("/mean"):
            error = result[key.removesuffix("mean") + "standard_error"]
            # With first_match_break the ten draws are added up, not averaged.
            scale = 10.0 if chosen["first_match_break"] else 1.0
            exact = results("stable").cmc.values
            assert (
                np.abs(exact - reference / scale) <= np.maximum(5 * error / scale, 5e-3)
            ).all(), key
        else:
            hold(results, "cmc", reference, key, unsure="sort=default" in marks)


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
@pytest.mark.cases(2)
def test_cut_lists(case):
    scores, result = case
    for key, reference in result.items():
        if not key.startswith(("voc_reid/eval_results/", "trec_eval/top_K_run/")):
            continue
        if np.isnan(reference).all():
            continue  # no query has a match: the mean of nothing
        head, output = key.rsplit("/", 1)
        length = int(head.partition("K=")[2].partition("|")[0])

        def results(ties: str, length=length, output=output):
            ds = be.reid(
                scores, "cityflow", rank_k=length, max_rank=length, junk="keep", ties=ties,
                per_query=True, unmatched="zero",
            )  # fmt: skip
            precision = ds["rank_k_average_precision"]
            matched = ds["matches"].values > 0
            if output == "all_AP":
                return {"x": precision[matched]}
            if output.endswith("per_query"):
                return {"x": precision.fillna(0.0)}
            share = matched.mean() if matched.any() else 1.0
            name = {"mAP": "rank_k_mean_ap", "cmc": "cmc"}[output]
            return {"x": ds[name] / share}

        hold(results, "x", reference, key, unsure="sort=default" in key)


@pytest.mark.cases(2)
def test_gom_program(case):
    scores, result = case
    for key, reference in result.items():
        if key.startswith("gom/evaluate_closed") and not key.endswith("cmc"):

            def results(ties: str):
                return be.gom(scores, scaled=False, variant="reference", ties=ties)

            output = key.rsplit("/", 1)[1]
            ours = {"mRP": "mrp", "mVP": "mvp", "mReP": "mrep"}[output]
            if "sort=default" in key:
                low, high = (results(t)[ours].values for t in ("pessimistic", "optimistic"))
                assert ((low - 1e-12 <= reference) & (reference <= high + 1e-12)).all(), key
            else:
                np.testing.assert_allclose(
                    results("stable")[ours], reference, rtol=0, atol=1e-12, err_msg=key
                )
        elif key.startswith("gom/evaluate_closed"):
            ds = be.gom(scores, scaled=False, variant="reference", max_rank=len(reference))
            if "sort=default" not in key:
                np.testing.assert_allclose(ds.cmc, reference, rtol=0, atol=1e-7)
        elif key.startswith("gom/evaluate_open"):
            # It takes every query for one that is not in the gallery, and removes all the same.
            budget = int(key.partition("B=")[2].partition("|")[0])
            is_removed = (kept(scores) == 0) | (scores.gallery_labels == -1)
            values = np.where(is_removed, 1.0, scores.values)
            unknown = 10**6 + np.arange(len(values))
            strangers = be.Scores(values, unknown, scores.gallery_labels)
            ds = be.gom(strangers, scaled=False, convention="vehicleid", budget=budget)
            np.testing.assert_allclose(ds.mfr, reference, rtol=0, atol=1e-12, err_msg=key)
            if not np.isin(scores.probe_labels, scores.gallery_labels).any():
                computed = be.gom(scores, scaled=False, variant="reference", budget=budget)
                np.testing.assert_allclose(computed.mfr, reference, rtol=0, atol=1e-12)


@pytest.mark.cases(2)
def test_roc_of_the_pairs_that_are_kept(case):
    scores, result = case
    positive, negative = result["fast_reid/evaluate_roc/n_pos_n_neg"]
    pairs = be.Scores(scores.values, mask=kept(scores))
    ds = be.verification(pairs, auc=False)
    assert (ds.genuine_attempts, ds.impostor_attempts) == (positive, negative)
    reference = result.get("fast_reid/evaluate_roc/tpr_at_fpr_1e-4_1e-3_1e-2")
    if reference is None or not positive:
        return
    # The program takes non-matches as the positive class: its FPR is FRR, its TPR is GRR, read
    # where FPR is nearest to the target on scikit-learn's curve.
    present = pairs.mask > 0
    false, true, thresholds = roc_curve(pairs.mask[present] == 1, scores.values[present])
    for target, rate in zip((1e-4, 1e-3, 1e-2), reference, strict=True):
        nearest = int(np.argmin(np.abs(false - target)))
        assert true[nearest] == pytest.approx(rate, abs=1e-12)
        if np.isfinite(thresholds[nearest]):  # what is not closer is rejected there
            ours = be.verification(
                pairs, thresholds=[np.nextafter(thresholds[nearest], -1)], auc=False
            )
            assert ours.grr[0] == pytest.approx(rate, abs=1e-12)
            assert ours.frr[0] == pytest.approx(false[nearest], abs=1e-12)


# ------------------------------------------------------------------------------------ GOM


def test_toy_lists(root):
    path = root / "tests" / "data" / "lecture" / "gom_toy_lists.json"
    lesson = json.loads(path.read_text(encoding="utf-8"))
    for toy in lesson["lists"].values():
        gallery = [1 if match else 2 + i for i, match in enumerate(toy["match"])]
        scores = be.Scores([toy["distance"]], [1], gallery)
        ds = be.gom(
            scores, thresholds=[lesson["tau1"], lesson["tau2"]], budget=lesson["B"],
            scaled=False, convention="vehicleid",
        )  # fmt: skip
        exact = toy["exact"]
        for i, tau in enumerate(("tau1", "tau2")):
            if "FR" in exact:
                assert ds.mfr[i] == pytest.approx(exact["FR"][tau], abs=1e-12)
                assert ds.far[i] == exact["FAR"][tau]
                continue
            for name, ours in (("RP", "mrp"), ("VP", "mvp"), ("ReP", "mrep")):
                assert ds[ours][i] == pytest.approx(exact[tau][name], abs=1e-12)
        if "AP" in exact:
            assert ds.mean_ap == pytest.approx(exact["AP"], abs=1e-12)
            assert ds.mean_inp == pytest.approx(exact["INP"], abs=1e-12)
            assert ds.cmc[0] == exact["CMC1"]


def test_published_table_from_the_published_curves(published):
    """All 84 cells of Market-1501 in Table 3."""
    path = published / "gom" / "market1501_supervised.json"
    about = json.loads(path.read_text(encoding="utf-8"))
    cells = 0
    with np.load(path.with_suffix(".npz")) as curves:
        for i, method in enumerate(curves["methods"].tolist()):
            result = be.gom_from_curves(
                curves["thresholds"],
                mrep=curves["mReP"][i],
                mfr=curves["mFR"][i],
                mrp=curves["mRP"][i],
                mvp=curves["mVP"][i],
                cmc=curves["CMC_list"][i],
                name=method,
            )
            row = about["rows"][method]
            for name, ours, scale in (
                ("CMC@1", result.cmc.sel(rank=1), 100), ("mAP", result.mean_ap, 100),
                ("mVP_max", result.max_mvp, 100), ("mReP_max", result.max_mrep, 100),
                ("tau_max", result.tau_max, 1),
                ("MREP", result.mrep_area, 100), ("MFR", result.mfr_area, 100),
            ):  # fmt: skip
                assert scale * float(ours) == pytest.approx(row["from_curves"][name], abs=2e-6)
                assert round(scale * float(ours), 2 if scale == 1 else 1) == pytest.approx(
                    row["published"][name], abs=1e-9
                )
                cells += 1
    assert cells == 84
