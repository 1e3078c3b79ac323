"""Naive implementation of `exclude`, written from its forms alone: one comparison at a time."""

from collections.abc import Mapping, Sequence
from typing import Any


def left_out(
    exclude: Sequence[str], mates: bool, probe: Mapping[str, Any], gallery: Mapping[str, Any]
) -> bool:
    """Whether a probe is not compared with a gallery template; a value is unknown if it is None."""
    for form in exclude:
        everyone = form.startswith("all:")
        rule = form.removeprefix("all:")
        column = rule.partition("=")[0].removesuffix("!")
        probe_value, gallery_value = probe[column], gallery[column]
        same = (
            probe_value is not None and gallery_value is not None and probe_value == gallery_value
        )
        if "/" in rule:
            first, second = rule.partition("=")[2].split("/")
            holds = (str(probe_value), str(gallery_value)) == (first, second)
        elif rule.endswith("!="):
            holds = not same
        else:
            holds = same
        if holds and (mates or everyone):
            return True
    return False
