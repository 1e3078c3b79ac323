"""Simulated populations, and the closed forms that say what their rates are."""

import hashlib
import math

import numpy as np
import pytest
from closed_forms import GaussianScores
from named_arguments import refused

import bioeval as be
from bioeval.cli import main

# Seeds are fixed; a simulated rate may be this many standard errors from its closed form.
SIGMAS = 4.0

# Made by this library, once: another digest means that every seeded population has changed.
GOLDEN = {
    "scores": "0ff4ce8c5db3e4309da4c7040e1da25d8f4dd3a304ba6b0e272c17bb5a096411",
    "embeddings": "e89aa382e3b30ecbf93152e21ce18bf105c851d4a0039215a611bd5030bf8dda",
}


def close_to(rates, truth, attempts):
    """Whether rates over independent attempts fit their truth within sampling error."""
    truth = np.asarray(truth)
    error = np.sqrt(truth * (1 - truth) / attempts)
    return (np.abs(rates - truth) <= SIGMAS * error + 1e-12).all()


# ------------------------------------------------------------------------------- populations


def test_golden_numbers_are_the_same_bit_for_bit():
    """Drawn with additions, multiplications, divisions and square roots only: no tolerance."""
    simulated = {
        "scores": be.simulate(60, 8, model="gaussian-scores", random_state=0).values,
        "embeddings": be.simulate_embeddings(400, 4, random_state=0).embeddings,
    }
    for name, values in simulated.items():
        assert hashlib.sha256(values.astype("<f4").tobytes()).hexdigest() == GOLDEN[name]


@pytest.mark.parametrize("model", ["gaussian-scores", "gaussian-embeddings"])
@pytest.mark.parametrize("unenrolled", [0, 3])
def test_unenrolled_people_probe_and_are_never_in_the_gallery(model, unenrolled):
    scores = be.simulate(
        8, 2, model=model, layout="probe-against-gallery", probes=3, unenrolled=unenrolled
    )
    assert set(scores.gallery_labels) == set(range(1, 9))
    assert set(scores.probe_labels) == set(range(1, 9 + unenrolled))
    assert scores.shape == (3 * (8 + unenrolled), 16)


def test_numbers_of_templates_and_probes_may_differ_between_people():
    listed = be.simulate_embeddings(3, [1, 4, 2])
    assert np.bincount(listed.labels).tolist() == [0, 1, 4, 2]
    ranged = be.simulate_embeddings(200, (2, 5))
    counts = np.bincount(ranged.labels)[1:]
    assert set(counts) == {2, 3, 4, 5}
    assert np.array_equal(ranged.labels, be.simulate_embeddings(200, (2, 5)).labels)
    oblong = be.simulate(
        3, np.array([1, 2, 3]), layout="probe-against-gallery", probes=[2, 0, 1, 4], unenrolled=1
    )
    assert oblong.gallery_labels.tolist() == [1, 2, 2, 3, 3, 3]
    assert oblong.probe_labels.tolist() == [1, 1, 3, 4, 4, 4, 4]


@pytest.mark.parametrize("model", ["gaussian-scores", "gaussian-embeddings"])
def test_sessions_and_cameras_are_crossed(model):
    scores = be.simulate(2, 6, model=model, sessions=2, cameras=3)
    assert set(scores.probe_meta) == {"session", "camera"}
    pairs = list(zip(scores.probe_meta["session"], scores.probe_meta["camera"], strict=True))
    assert len(pairs) == 12
    assert sorted(pairs[:6]) == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]
    assert pairs[6:] == pairs[:6]


def test_session_one_enrols_and_the_later_ones_probe():
    scores = be.simulate(
        3, [1, 2, 3], layout="probe-against-gallery", probes=4, unenrolled=1, sessions=3, cameras=2
    )
    assert set(scores.gallery_meta["session"]) == {1}
    assert scores.probe_meta["session"].tolist() == [2, 3, 2, 3] * 4
    assert scores.gallery_meta["camera"].tolist() == [1, 1, 2, 1, 2, 1]
    assert scores.probe_meta["camera"].tolist() == [2, 2, 1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1, 2, 2]
    single_session = be.simulate(3, 2, layout="probe-against-gallery", sessions=1)
    assert set(single_session.probe_meta["session"]) == {1}
    assert set(single_session.probe_meta) == set(single_session.gallery_meta) == {"session"}


def test_population_scores_are_those_of_simulate():
    arguments = {"layout": "probe-against-gallery", "unenrolled": 2, "cameras": 2}
    population = be.simulate_embeddings(4, 3, **arguments)
    assert population.embeddings.dtype == np.float32
    assert population.embeddings.shape == (4 * 3 + 6 * 5, 16)
    assert population.enrolled.sum() == 12
    assert len(population.labels) == len(population.meta["camera"]) == 42
    assert population.centres.shape == (6, 16)
    from_population, same = population.scores(), be.simulate(4, 3, **arguments)
    assert np.array_equal(from_population.values, same.values)
    assert np.array_equal(from_population.probe_labels, same.probe_labels)
    assert np.array_equal(from_population.probe_meta["camera"], same.probe_meta["camera"])


def test_the_parts_of_an_embedding_have_their_standard_deviations():
    arguments = {"dimensions": 8, "random_state": 5}
    plain = be.simulate_embeddings(400, 4, within=0.5, **arguments)
    assert plain.centres.std() == pytest.approx(1.0, rel=SIGMAS / math.sqrt(2 * 400 * 8))
    noise = plain.embeddings - plain.centres[plain.labels - 1]
    assert noise.std() == pytest.approx(0.5, rel=SIGMAS / math.sqrt(2 * noise.size))

    days = be.simulate_embeddings(400, 4, within=0.0, sessions=2, **arguments)
    offset = days.embeddings - days.centres[days.labels - 1]
    assert np.allclose(offset[0::4], offset[2::4], atol=1e-5)  # the same person and day
    independent = 400 * 2 * 8
    assert offset.std() == pytest.approx(0.3, rel=SIGMAS / math.sqrt(2 * independent))

    views = be.simulate_embeddings(400, 4, within=0.0, cameras=2, camera_sd=3.0, **arguments)
    offset = views.embeddings - views.centres[views.labels - 1]
    first = views.meta["camera"] == 1
    assert np.allclose(offset[first], offset[first][0], atol=1e-5)  # the same for everyone
    assert not np.allclose(offset[first][0], offset[~first][0], atol=0.1)


# ------------------------------------------------------------------------------- Gaussian scores


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_simulated_verification_fits_the_truth(kind):
    truth = GaussianScores(1.5, kind)
    scores = be.simulate(60, 8, model="gaussian-scores", d_prime=1.5, kind=kind)
    same = scores.probe_labels[:, None] == scores.gallery_labels
    genuine, impostor = same & ~np.eye(480, dtype=bool), ~same
    assert genuine.sum() == 60 * 8 * 7
    sign = 1 if kind == "distance" else -1
    distances = sign * scores.values
    for threshold in (-1.5, -0.75, 0.3):
        accepted = distances <= threshold
        assert close_to(accepted[genuine].mean(), truth.gar(sign * threshold), genuine.sum())
        assert close_to(accepted[impostor].mean(), truth.far(sign * threshold), impostor.sum())
    # Fused over the 7 mates, and over the 8 templates of each other subject.
    mates = np.where(genuine, distances, np.inf).min(axis=1)
    nearest = np.where(impostor, distances, np.inf).reshape(480, 60, 8).min(axis=2)
    nearest = nearest[np.isfinite(nearest)]
    assert close_to((mates <= -2.0).mean(), truth.gar(-2.0 * sign, templates=7), 480)
    assert close_to((nearest <= -2.0).mean(), truth.far(-2.0 * sign, templates=8), len(nearest))


# ------------------------------------------------------------------------------- bad arguments

OBLONG = {"layout": "probe-against-gallery"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_subjects": 0}, ["subjects", "0", ">= 1"]),
        ({"n_subjects": 2.5}, ["subjects", "2.5", "integer"]),
        ({"n_templates": 0}, ["templates", "0", ">= 1"]),
        ({"n_templates": (3, 2)}, ["templates", "(3, 2)", "backwards"]),
        ({"n_templates": [1, 2]}, ["templates", "2 counts", "list of 5 counts"]),
        ({"n_templates": [1, 2, 3, 4, 0]}, ["templates", ">= 1"]),
        ({"n_templates": "many"}, ["templates", "'many'", "integer"]),
        ({"kind": "order"}, ["kind", "'order'", "'distance'"]),
        ({"kind": "similarity"}, ["kind", "'similarity'", "gaussian-scores"]),
        ({"probes": 3}, ["probes", "3", "probe-against-gallery"]),
        ({"probes": [1] * 5, "unenrolled": 2, **OBLONG}, ["probes", "list of 7 counts"]),
        ({"unenrolled": 3}, ["unenrolled", "3", "probe-against-gallery"]),
        ({"unenrolled": 1.5, **OBLONG}, ["unenrolled", "1.5", "integer"]),
        ({"within": [0.1, 0.2]}, ["within", "2 values", "5"]),
        ({"camera_sd": 0.2}, ["camera_sd", "0.2", "cameras"]),
        ({"model": "gaussian-scores", "within": 1.0}, ["within", "1.0", "gaussian-embeddings"]),
        ({"model": "gaussian-scores", "d_prime": -1}, ["d_prime", "-1", "[0, inf)"]),
    ],
)
def test_bad_arguments_are_named_with_what_was_expected(arguments, words):
    with pytest.raises(be.DataError) as caught:
        be.simulate(**{"n_subjects": 5, "n_templates": 2, **arguments})
    for word in words:
        assert word in str(caught.value)


def test_files_of_two_seeds_are_of_other_people_unless_they_are_two_systems(tmp_path):
    def subjects(*options):
        file = str(tmp_path / "x.npz")
        assert main(["simulate", "--subjects", "3", "--out", file, "--force", *options]) == 0
        return {*be.load(file).probe_labels.tolist()}

    same = ("--first-subject", "7")
    assert subjects() == {1, 2, 3}
    assert not subjects("--seed", "1") & subjects("--seed", "2")
    assert subjects("--seed", "1", *same) == subjects("--seed", "2", *same) == {7, 8, 9}
    simulated = be.simulate(3, 1, layout="probe-against-gallery", first_subject=7, unenrolled=1)
    assert {*simulated.probe_labels.tolist()} == {7, 8, 9, 10}
    with refused("first_subject"):
        be.simulate(3, 1, first_subject=0)
