"""Presentation attack detection: naive_pad.py, identities of the definition, and wrong input."""

import math

import naive_pad as slow
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from result_messages import arguments, codes
from strategies import examples_of

import bioeval as be

HAND = (
    [0.9, 0.8, 0.6, 0.3, 0.7, 0.2, 0.1, 0.4, 0.35],
    ["", "", "bona fide", "Bona-Fide", "mask", "mask", "mask", "print", "print"],
)


@st.composite
def sets(draw):
    """Scores with ties, failures and infinities, of bona fide and up to three species."""
    names = draw(st.lists(st.sampled_from(["print", "mask", "replay"]), max_size=12))
    attack = [*names, "mask", *[""] * draw(st.integers(1, 8))]
    pool = [0.0, 0.25, 0.5, 1.0, -1.0, 3.0, math.nan, math.inf, -math.inf]
    size = len(attack)
    values = draw(st.lists(st.sampled_from(pool), min_size=size, max_size=size))
    return values, attack


def number(x):
    return math.nan if x is None else float(x)


@settings(max_examples=examples_of(60))
@given(
    sets(), st.sampled_from(["similarity", "distance"]),
    st.sampled_from(["exclude", "reject"]),
)  # fmt: skip
def test_pad_equals_the_naive_implementation(case, kind, non_response):
    values, attack = case
    sign = -1 if kind == "distance" else 1
    result = slow.classes(values, attack, kind)
    targets = (0.0, 0.05, 0.1, 1 / 3, 1.0)
    ds = be.pad(
        values, attack, kind=kind, non_response=non_response, apcer_targets=targets,
        thresholds=[-1.0, -0.25, 0.25, 0.3, 1.0],
    )  # fmt: skip
    assert ds.species.values.tolist() == [
        *sorted(species for species in result if species),
        "pooled",
        "largest",
    ]
    for threshold in ds.threshold.values.tolist():
        expected_rates, at_threshold = (
            slow.rates(result, sign * threshold, non_response),
            ds.sel(threshold=threshold),
        )
        np.testing.assert_array_equal(float(at_threshold.bpcer), number(expected_rates["bpcer"]))
        for species, rate in expected_rates["apcer"].items():
            np.testing.assert_array_equal(
                float(at_threshold.apcer.sel(species=species)), number(rate)
            )
    for target in targets:
        best = slow.at_apcer(result, target, non_response)
        row = ds.sel(apcer_target=target)
        np.testing.assert_array_equal(float(row.bpcer_at_apcer), number(best and best[1]))
        assert_threshold(float(row.threshold_at_apcer), best, result, sign)
    crossing = slow.d_eer(result, non_response)
    np.testing.assert_allclose(float(ds.d_eer), number(crossing and crossing[0]), rtol=1e-14)
    assert_threshold(float(ds.d_eer_threshold), crossing, result, sign)
    for rule, best in (
        ("apcer=0.1", slow.at_apcer(result, 0.1, non_response)),
        ("bpcer=0.25", slow.at_bpcer(result, 0.25, non_response)),
        ("d_eer", crossing),
    ):
        ds = be.pad(values, attack, kind=kind, non_response=non_response, threshold=rule)
        expected_threshold = None if best is None else best[1] if rule == "d_eer" else best[0]
        assert_threshold(
            float(ds.threshold_used),
            best and (expected_threshold, expected_threshold),
            result,
            sign,
        )
        expected_rates = slow.rates(result, expected_threshold, non_response)
        largest_apcer, expected_bpcer = math.nan, math.nan
        if best is not None:
            largest_apcer, expected_bpcer = (
                number(expected_rates["apcer"]["largest"]),
                number(expected_rates["bpcer"]),
            )
        np.testing.assert_array_equal(
            float(ds.apcer_at_threshold.sel(species="largest")), largest_apcer
        )
        np.testing.assert_array_equal(float(ds.bpcer_at_threshold), expected_bpcer)
        np.testing.assert_array_equal(float(ds.acer), (largest_apcer + expected_bpcer) / 2)


def assert_threshold(value, best, found, sign):
    """A point's threshold: infinite or NaN for the point that rejects all."""
    if best is None:
        assert math.isnan(value)
        return
    tuple_threshold = best[0] if isinstance(best[0], float) or best[0] is None else best[1]
    if tuple_threshold is None:
        attack_scores = [y for x in found.values() for y in x if y is not None]
        expected = math.nan if math.inf in attack_scores else sign * math.inf
    else:
        expected = sign * tuple_threshold
    np.testing.assert_array_equal(value, expected)


def test_a_threshold_of_a_training_set_is_used_on_the_other():
    train = [5.0, 4.0, 3.0, 2.0, 1.0], ["", "", "", "print", "print"]
    ds = be.pad(*HAND, train=([x / 10 for x in train[0]], train[1]), threshold="d-eer")
    assert float(ds.threshold_used) == 0.3
    assert float(ds.bpcer_at_threshold) == 0
    assert float(ds.apcer_at_threshold.sel(species="largest")) == 1
    assert ds.attrs["chosen_on"] == "the training set"


def test_failed_scores_may_keep_the_curves_from_crossing():
    values, attack = [math.nan, math.nan, 1.0, math.nan, 0.0], ["", "", "", "a", "a"]
    ds = be.pad(values, attack, non_response="reject")
    assert math.isnan(float(ds.d_eer))
    assert float(ds.bpnrr) == 2 / 3
    assert ds.apnrr.values.tolist() == [0.5, 0.5, 0.5]
    assert float(be.pad(values, attack).d_eer) == 0


def test_species_without_a_response_are_named():
    ds = be.pad([1.0, 0.0, math.nan], ["", "a", "b"])
    assert arguments(ds, "species-without-response")["species"] == ["b"]
    assert ds.in_apcer.values.tolist() == [1, 0, 0, 0]
    assert math.isnan(float(ds.apcer.sel(species="b").max()))


def test_few_presentations_and_few_instruments_are_warned_of():
    rng = np.random.default_rng(1)
    attack = np.repeat(["", "mould"], [100, 600])
    ds = be.pad(rng.random(700), attack, instrument=np.arange(700) % 6, apcer_targets=0.01)
    (message,) = be.messages(ds)
    assert message.code == "few-instruments"
    assert message.arguments == {"needed": 10, "species": {"mould": 6}}
    (message_of_targets,) = be.messages(
        be.pad(rng.random(700), attack, apcer_targets=(0.1, 0.001, 0.0))
    )
    assert message_of_targets.code == "too-few-presentations"
    assert message_of_targets.arguments["needed"] == 3000 and message_of_targets.arguments[
        "species"
    ] == {"mould": 600}


def test_a_rule_without_an_operating_point_has_no_threshold():
    ds = be.pad([np.nan, 0.0, 1.0], ["", "a", "a"], threshold="bpcer=0.5")
    messages = {message.code: message.arguments for message in be.messages(ds)}
    assert "bpcer=0.5" in messages["no-threshold"]["why"]
    assert "no-bona-fide-response" in messages


def test_people_and_instruments_are_each_left_out():
    """The variances of APCER over people and over instruments add up, at any other thresholds."""
    rng = np.random.default_rng(8)
    people, moulds = np.arange(120) % 10, np.arange(120) // 15
    attack = np.where(np.arange(120) < 60, "", "mould")
    effect = rng.normal(size=10)[people] + rng.normal(size=8)[moulds]
    values = (rng.normal(size=120) + effect).round(1)
    for thresholds in ([0.5], [-0.5, 0.5, 0.7]):
        ds = be.pad(
            values, attack, subjects=people, instrument=moulds, interval="people",
            threshold=0.5, thresholds=thresholds,
        )  # fmt: skip
        for rate, species_name, units in (
            ("apcer", "mould", [people, moulds]),
            ("bpcer", "", [people]),
        ):
            own = attack == species_name
            limits = slow.limits_of_accepted(
                values[own].tolist(), [unit[own].tolist() for unit in units], 0.95
            )
            largest = ds.sel(species="largest")
            value = largest[f"{rate}_at_threshold"].item()
            ends = limits(value) if species_name else [1 - x for x in limits(1 - value)[::-1]]
            limits_found = [largest[f"{rate}_at_threshold_{end}"] for end in ("low", "high")]
            np.testing.assert_allclose(limits_found, ends, rtol=1e-9)


def five_species(seed, instruments=10, presentations=20):
    """Detection scores of five species whose APCER is 10 % at the threshold 0."""
    rng = np.random.default_rng(seed)
    number_of_instruments = 5 * instruments
    attacks = 0.7 * rng.normal(size=(number_of_instruments, 1)) + rng.normal(
        size=(number_of_instruments, presentations)
    )
    attacks -= 1.2816 * math.hypot(0.7, 1)
    attack = np.repeat(list("abcde"), instruments * presentations)
    values = np.concatenate([1 + rng.normal(size=100), attacks.ravel()])
    units = np.concatenate(
        [np.arange(100), 1000 + np.repeat(np.arange(number_of_instruments), presentations)]
    )
    return values, np.concatenate([[""] * 100, attack]), units


def test_limits_of_apcer_are_those_of_all_species_at_once():
    values, attack, units = five_species(1)
    units[attack == "a"] %= 3  # one species of three instruments
    ds = be.pad(
        values, attack, instrument=units, interval="people", threshold=0.0, thresholds=[0.0]
    )
    limits_by_species = {}
    for name in "abcde":
        is_species, row = attack == name, ds.sel(species=name)
        scores, kinds = values[is_species].tolist(), [units[is_species].tolist()]
        rate = row.apcer_at_threshold.item()
        limits_by_species[name] = [
            slow.limits_of_accepted(scores, kinds, x)(rate) for x in (0.95, 0.99)
        ]
        assert row.apcer_at_threshold_low == pytest.approx(limits_by_species[name][0][0], rel=1e-9)
        assert row.apcer_at_threshold_high == pytest.approx(limits_by_species[name][0][1], rel=1e-9)
    low = max(x[1][0] for x in limits_by_species.values())
    high = max(x[0][1] for x in limits_by_species.values())
    largest = ds.sel(species="largest")
    assert float(largest.apcer_at_threshold_low) == pytest.approx(low, rel=1e-9)
    assert float(largest.apcer_at_threshold_high) == pytest.approx(high, rel=1e-9)
    assert ds.attrs["interval_for"].startswith("new instruments of these species")


def test_a_species_with_one_instrument_shows_no_limits():
    values, attack, units = five_species(3)
    units[attack == "b"] = 5000
    ds = be.pad(values, attack, instrument=units, interval="people", threshold=0.0)
    ds = ds.sel(species="largest")
    ends = ("apcer_at_threshold_low", "apcer_at_threshold_high", "d_eer_low", "d_eer_high")
    assert np.isnan([ds[x].item() for x in ends]).all()
    assert not np.isnan(ds.bpcer_at_threshold_high)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"attack": ["print"] * 9}, "no bona fide presentation among 9"),
        ({"attack": [""] * 9}, "no attack presentation among 9"),
        ({"attack": ["", *["Print"] * 4, *["print"] * 4]}, "differ only in case or spaces"),
        ({"attack": ["", *["pooled"] * 8]}, "there is a species 'pooled'"),
        ({"attack": ["", *["largest"] * 8]}, "there is a species 'largest'"),
        ({"attack": [""] * 8}, "one score and one species for each"),
        ({"values": ["a"] * 9}, "expected real numbers"),
        ({"kind": "order"}, "`kind` is 'order'"),
        ({"non_response": "raise"}, "`non_response` is 'raise'"),
        ({"threshold": "eer"}, "`threshold` is 'eer'"),
        ({"threshold": "apcer=2"}, "with a rate from 0 to 1"),
        ({"threshold": 0.5, "train": ([1.0], [""])}, "`train` needs a rule"),
        ({"threshold": "d_eer", "train": 3}, "expected two arrays"),
        (
            {"threshold": "d_eer", "train": ([1.0], [""])},
            "train: attack has no attack presentation",
        ),
        ({"apcer_targets": 2}, "expected rates from 0 to 1"),
        ({"subjects": [1, 2]}, "one for each presentation"),
        ({"interval": "wilson"}, "`interval` is 'wilson'"),
        ({"interval": "people"}, "give `subjects` or `instrument`"),
    ],
)
def test_wrong_input_is_named(change, said):
    arguments = {"values": HAND[0], "attack": HAND[1], **change}
    with pytest.raises(be.DataError, match=said):
        be.pad(arguments.pop("values"), arguments.pop("attack"), **arguments)


MARKS = [
    *("", None, math.nan, "nan", "-", "–", "none", "None", "n/a", "N/A"),
    *("bona fide", "Bona-Fide", "bona_fide", "BONAFIDE", "bona\u2011fide", "bona\u2013fide"),
    *("live", "LIVE", "genuine", "Genuine", "real"),
]


@pytest.mark.parametrize("marks", [*([x] for x in MARKS), MARKS])
def test_every_mark_of_bona_fide_is_no_species(marks):
    """Alone and together; three prints below all of them."""
    attack = np.array([*marks, "print", "print", "print"], dtype=object)
    ds = be.pad([0.9] * len(marks) + [0.1, 0.2, 0.3], attack, threshold=0.5)
    assert ds.species.values.tolist() == ["print", "pooled", "largest"]
    assert int(ds.bona_fide) == len(marks)
    assert (ds.apcer_at_threshold == 0).all() and float(ds.bpcer_at_threshold) == 0
    # In a matrix, with the same column: only the row of the print is an attack.
    scores = be.Scores(
        np.arange(2.0 * len(marks) + 2).reshape(-1, 2), ["a"] * (len(marks) + 1), ["a", "b"],
        probe_meta={"attack": np.array([*marks, "print"], dtype=object)},
    )  # fmt: skip
    ds = be.vulnerability(scores)
    assert ds.presentations.values[:2].tolist() == [1, 1]
    assert int(ds.genuine_attempts) == len(marks)


def test_scores_that_mean_the_opposite_are_said():
    rng = np.random.default_rng(0)
    values = np.r_[rng.normal(5, 1, 50), rng.normal(0, 1, 50)]
    attack = np.repeat(["", "print"], 50)
    with pytest.warns(be.BioevalWarning, match="bona fide and attack presentations were exchanged"):
        ds = be.pad(values, attack, kind="distance")
    assert float(ds.d_eer) > 0.9
    doubt = arguments(ds, "kind-or-classes-wrong")
    assert doubt["kind"] == "distance" and doubt["auc"] == 0
    assert "kind-or-classes-wrong" not in codes(be.pad(values, attack))


def test_one_species_that_always_passes_is_no_wrong_kind():
    """The scores of the species are the largest; the 90 prints are below."""
    values = np.r_[np.linspace(2, 3, 50), np.linspace(0, 1, 90), np.linspace(4, 5, 10)]
    ds = be.pad(values, np.repeat(["", "print", "mask"], [50, 90, 10]))
    assert float(ds.d_eer) == 1
    assert "kind-or-classes-wrong" not in codes(ds)
