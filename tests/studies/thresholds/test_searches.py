"""Thresholds of open set for a fixed gallery: chosen, judged and assured as plain loops do."""

import math

import naive_limits
import numpy as np
import pytest
from named_arguments import raises_about

import bioeval as be
from bioeval.cli import main
from bioeval.counting.operating_points import Attempts
from bioeval.studies.assurance import JudgedSearches, rates_of

SHORT = {"interval": "people", "task": "open_set", "folds": 3, "repeats": 1}


def searched(seed: int = 0, kind: str = "distance") -> be.Scores:
    """Twelve people enrolled, twenty not, with unequal numbers of searches, and ties."""
    rng = np.random.default_rng(seed)
    gallery = np.repeat(np.arange(12), 2)
    probes = np.repeat(np.arange(32), rng.integers(1, 5, 32))
    points = rng.normal(size=(32, 3))
    sides = [points[x] + 0.3 * rng.normal(size=(len(x), 3)) for x in (probes, gallery)]
    distances = np.round(np.linalg.norm(sides[0][:, None] - sides[1][None], axis=2), 1)
    return be.Scores(distances if kind == "distance" else -distances, probes, gallery, kind=kind)


class Loops:
    """Searches by plain loops, of templates."""

    def __init__(self, scores: be.Scores):
        distances = scores.values if scores.kind == "distance" else -scores.values
        gallery = scores.gallery_labels.tolist()
        self.alarms: dict[int, list[float]] = {}
        self.mates: dict[int, list[float]] = {}
        for row, person in zip(distances.tolist(), scores.probe_labels.tolist(), strict=True):
            own = [x for x, g in zip(row, gallery, strict=True) if g == person]
            other_distances = [x for x, g in zip(row, gallery, strict=True) if g != person]
            if own:  # with ties the mate is last
                first = min(own) < min(other_distances)
                self.mates.setdefault(person, []).append(min(own) if first else math.inf)
            else:
                self.alarms.setdefault(person, []).append(min(other_distances))

    def far(self, t: float, people: list | None = None) -> float:
        is_accepted = [x <= t for p in people or self.alarms for x in self.alarms.get(p, [])]
        return sum(is_accepted) / len(is_accepted)

    def frr(self, t: float) -> float:
        is_rejected = [not x <= t for own in self.mates.values() for x in own]
        return sum(is_rejected) / len(is_rejected)

    def own(self, t: float) -> dict[int, float]:
        return {p: sum(x <= t for x in own) / len(own) for p, own in self.alarms.items()}

    def points(self) -> list[float]:
        distances = {x for own in (*self.alarms.values(), *self.mates.values()) for x in own}
        return [-math.inf, *sorted(x for x in distances if math.isfinite(x))]


@pytest.mark.parametrize("seed", range(3))
def test_the_threshold_is_that_of_the_definition(seed):
    scores, target = searched(seed), 0.4
    result = be.study_threshold(scores, f"far={target}", assure=0.9, **SHORT)
    loops = Loops(scores)
    allowed = [t for t in loops.points() if loops.far(t) <= target]
    assert result.threshold == max(allowed)
    assert result["rates"].far.sel(part="all") == loops.far(max(allowed))
    assert result["rates"].frr.sel(part="all") == loops.frr(max(allowed))
    people = sorted(loops.alarms)
    count = len(people)
    assert result.unenrolled_people == count
    means = {t: sum(loops.own(t).values()) / count for t in loops.points()}
    places = {
        t: [
            means[t],
            *(sum(loops.own(t)[q] for q in people if q != p) / (count - 1) for p in people),
        ]
        for t in loops.points()
    }
    limits = naive_limits.curve(
        [*places.values()], count, count, 1, 0.9, raised=True, one_sided=True
    )
    best = max(t for t in means if limits(means[t])[1] <= target)
    limit = limits(means[best])[1]
    assert result.assured_threshold == best
    assert result.assured_far == pytest.approx(means[best], rel=1e-12, abs=0)
    assert result.assured_far_high == pytest.approx(limit, rel=1e-6)
    assert result.assured_far_attempts == pytest.approx(loops.far(best), rel=1e-12)
    assert result.assured_frr == loops.frr(best)


@pytest.mark.parametrize(
    ("far", "threshold", "reached"),
    [(0.24, 0.5, 0.0), (0.25, 1.5, 0.25), (0.74, 1.5, 0.25), (0.75, 2.0, 0.75), (1.0, 3.0, 1.0)],
)
def test_the_loosest_threshold_reaches_the_rate_and_never_passes_it(far, threshold, reached):
    """A mate as near as the next false alarm is beyond the threshold, as this alarm is."""
    alarms, mates = np.array([2.0, 1.0, 3.0, 2.0]), np.array([0.5, 1.0, 1.5, 2.0, 3.0, np.inf])
    attempts = Attempts.from_scores(np.where(np.isinf(mates), np.nan, mates), alarms)
    loosest, far_reached, _ = JudgedSearches(attempts, alarms, np.arange(4), 0.9).loosest(far)
    assert loosest == threshold and far_reached == reached
    assert rates_of(attempts, threshold) == (reached, (~(mates <= threshold)).mean())


def test_the_threshold_is_that_of_open_set():
    scores = searched(1)
    for unit in ("template", "subject"):
        result = be.study_threshold(scores, "far=0.2", rank_unit=unit, **SHORT)
        ds = be.open_set(scores, rank_unit=unit, far_targets=[0.2])
        assert result.threshold == ds.threshold_at_far.sel(rank=1).item()
        expected = 1 - ds.dir_at_far.sel(rank=1).item()
        assert result["rates"].frr.sel(part="all") == pytest.approx(expected)


def test_folds_divide_the_people_who_search_and_keep_the_gallery():
    scores = searched(2)
    result = be.study_threshold(scores, "far=0.3", **SHORT)
    loops, people = Loops(scores), scores.probe_labels
    splitter = be.partition.SubjectKFold(
        3, n_repeats=1, shuffle=True, random_state=0, stratify="enrolled"
    )
    roles = np.where(people < 12, "yes", "no")
    parts = splitter.split(range(len(people)), people.tolist(), meta={"enrolled": roles})
    for fold, (train, test) in enumerate(parts):
        trained, tested = ({*people[x].tolist()} & {*loops.alarms} for x in (train, test))
        assert not trained & tested
        allowed = [
            t
            for t in loops.points()
            if loops.far(t, sorted(trained)) <= 0.3
            and any(
                t in own
                for p, own in (*loops.alarms.items(), *loops.mates.items())
                if p in {*people[train].tolist()}
            )
        ]
        assert result["folds"].threshold[0, fold] == max(allowed)
        of_test = result["folds"].far.sel(part="test")
        assert of_test[0, fold] == loops.far(max(allowed), sorted(tested))


def test_what_is_no_fixed_gallery_is_refused():
    all_against_all = be.simulate(10, 2, random_state=0)
    scores = searched()
    enrolled = scores.select(np.flatnonzero(scores.probe_labels < 12), np.arange(24))
    list_of_pairs = be.Scores.from_pairs([0.1, 0.2], [1, 0], subjects=[(1, 1), (1, 2)])
    for no_gallery, match in (
        (all_against_all, "depends on all who are enrolled at once"),
        (enrolled, "all people of these probes are enrolled"),
        (list_of_pairs, "of pairs the FAR depends"),
    ):
        with pytest.raises(be.ProtocolError, match=match) as result:
            be.study_threshold(no_gallery, "far=0.1", task="open_set", assure=0.9)
        assert "\n" not in str(result.value)
    with raises_about(be.DataError, "task"):
        be.study_threshold(scores, "far=0.1", task="closed_set")


@pytest.mark.slow
def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    be.save(searched(), "a.npz")
    study = ["threshold", "a.npz", "--task", "open_set", "--target", "far=40%", "--repeats", "1"]
    assert main([*study, "--assure", "0.9", "--folds", "3", "--verbose"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "With 90 % confidence, the FAR" in printed
    assert "against this gallery" in printed
    assert "FAR: false accept rate (ISO: FPIR)" in printed
    assert "FMR," not in printed
    claim = [*study[:2], "--task", "open_set", "--promise", "far=1%", "--threshold", "3"]
    assert main(claim) == 2
    assert "leave out --task open_set" in capsys.readouterr().err
    assert main([*study, "--folds", "3", "--report", "page.html"]) == 0
    assert (tmp_path / "page.html").exists()


def of_watch_list(unenrolled: int, seed: int = 0) -> be.Scores:
    """Twenty people enrolled, and further people who are not, with four searches by each person."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(20 + unenrolled, 8))
    gallery = np.repeat(np.arange(20), 2)
    probes = np.repeat(np.arange(20 + unenrolled), 4)
    sides = [points[x] + 0.35 * rng.normal(size=(len(x), 8)) for x in (probes, gallery)]
    return be.Scores(np.linalg.norm(sides[0][:, None] - sides[1][None], axis=2), probes, gallery)


def test_the_interval_is_that_of_open_set():
    scores = of_watch_list(100)
    study = be.study_threshold(scores, "far=0.01", **SHORT)
    open_set = be.open_set(scores, thresholds=[study.threshold.item()], interval="people")
    for rate in ("far", "frr"):
        assert study[f"rates/{rate}"].sel(part="all") == open_set[rate].item()
        for end in ("low", "high"):
            limit = study[f"rates/{rate}_{end}"].sel(part="all").item()
            assert limit == open_set[f"{rate}_{end}"].item()


def test_where_an_impostor_is_accepted_by_every_threshold_there_is_none():
    rng = np.random.default_rng(0)
    probes, gallery = np.repeat(np.arange(40), 2), np.repeat(np.arange(20), 2)
    values = rng.random((80, 40)) + 2 * (probes[:, None] != gallery)
    values[60, 3] = -np.inf  # a person who is not enrolled
    scores = be.Scores(values, probes, gallery)
    ds = be.study_threshold(scores, "far=0", task="open_set", folds=4, repeats=1)
    assert np.isnan(ds.threshold) and [x.code for x in be.messages(ds)] == ["nothing-to-install"]


def test_rates_at_an_assured_threshold_count_failed_searches():
    """Any threshold rejects a failed search, which is one of the attempts of each rate."""
    people = be.simulate(120, 4, random_state=1)
    person = people.probe_labels
    is_enrolled = np.isin(person, np.unique(person)[:60])
    in_gallery = is_enrolled & (np.arange(len(person)) % 4 == 0)
    values = people.values[~in_gallery][:, in_gallery].copy()
    values[np.random.default_rng(0).random(len(values)) < 0.1] = np.nan
    scores = be.Scores(values, person[~in_gallery], person[in_gallery], nan="reject")
    study = be.study_threshold(scores, "far=0.2", **SHORT, assure=0.8)
    loops = Loops(scores)
    at = float(study.assured_threshold)
    assert float(study.assured_frr) == pytest.approx(loops.frr(at), rel=1e-12)
    assert float(study.assured_far_attempts) == pytest.approx(loops.far(at), rel=1e-12)
