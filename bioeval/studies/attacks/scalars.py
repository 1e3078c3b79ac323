"""Rates of attacks in folds."""

from bioeval.base import Scalar

#: Of the attacks on the people of the test part of a fold.
ATTACK_RATES = (
    Scalar(
        "largest IAPAR of a species",
        name="iapar_max",
        iso="IAPAR",
        label="IAPAR max",
        results=("folds",),
    ),
    Scalar(
        "proportion of all attack attempts accepted, whatever their species",
        name="iapar_pooled",
        quotient=(("ia",), ("attack_attempts",)),
        label="IAPAR pooled",
        results=("folds",),
    ),
    Scalar(
        "iapar_max + frr",
        name="riapar",
        iso="RIAPAR",
        label="RIAPAR",
        bounds=(0.0, 2.0),
        results=("folds",),
    ),
    Scalar(
        "attack attempts accepted, as a proportion, of each attack instrument species",
        name="iapar_of_species",
        iso="IAPAR",
        results=("folds",),
    ),
)
