"""A scalar says what its value is: it is shown as that, and nothing is guessed from its name."""

import pytest

import bioeval as be
from bioeval.document.cells import Cost, Number, Rate, Score
from bioeval.document.scalars import cell_of_scalar, label_of, name_of_scalar
from bioeval.document.text import say
from bioeval.results.variables import VARIABLES, VERIFICATION, figure
from bioeval.views.writers.lines import Lines

SHOWN = {"rate": Rate, "number": Number, "cost": Cost, "score": Score}


FIGURES = [x for x in VARIABLES.values() if figure(x.name)]


@pytest.mark.parametrize("scalar", FIGURES, ids=lambda scalar: scalar.name)
def test_a_scalar_is_shown_as_what_it_is(scalar):
    cell = cell_of_scalar(scalar, 0.5)
    assert type(cell) is SHOWN[scalar.kind]
    assert (scalar.units == "score") == isinstance(cell, Score)
    assert (scalar.units == "cost") == isinstance(cell, Cost)


def test_a_threshold_is_no_rate():
    """A threshold of 0.25 is not 25 %."""
    for name in ("eer_threshold", "zero_far_threshold", "zero_frr_threshold"):
        assert Lines().write(cell_of_scalar(VARIABLES[name], 0.25)) == "0.25"


def test_a_label_has_the_words_of_the_view_and_a_name_in_data_those_of_the_lecture():
    label = label_of(VERIFICATION["frr_at_far"], target=0.01)
    assert (
        Lines().write(label)
        == name_of_scalar(VERIFICATION["frr_at_far"], target="1 %")
        == "FRR at FAR <= 1 %"
    )
    assert Lines("iso").write(label) == "FNMR at FMR <= 1 %"
    assert VERIFICATION["frr_at_far"].places == ("target",) and VERIFICATION["min_dcf"].places == (
        "prior",
    )


def test_the_normalised_cost_is_one_variable_with_one_label_and_value_in_all_forms(tmp_path):
    ds = be.verification(be.simulate(20, 4, random_state=1), costs=[(0.05, 1, 1)])
    assert ds.min_dcf.item() == pytest.approx(ds.min_cost.item() / 0.05)
    value = f"{ds.min_dcf.item():.4f}"
    (line,) = (x for x in be.to_markdown(ds).splitlines() if "minDCF" in x)
    assert "minDCF at prior 0.05" in line and f" {value} " in line
    page = be.report(ds, tmp_path / "x.html").read_text(encoding="utf-8")
    assert "minDCF at prior 0.05" in page and value in page


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (1.0, "count people", "1 person"),
        (2.0, "count people", "2 people"),
        (1 - 2**-52, "rate", "100 %"),  # a mean of ones, by sums of floats
        (2**-60, "rate", "0 %"),
        (1 - 1e-9, "rate", "99.9999999 %"),
    ],
)
def test_a_number_of_a_sentence_is_one_that_people_read(value, form, text):
    assert Lines().write(say(f"{{x:{form}}}", x=value)) == text
