"""Actual costs of decisions, against those of a decision without any score."""

from __future__ import annotations

from collections.abc import Iterable

from bioeval.base.messages import Message


def actual_costs_above_1(
    costs: Iterable[float], priors: Iterable[float], miss: float, accept: float
) -> list[Message]:
    """Return a message for each prior at which the normalised actual cost is above 1."""
    messages = []
    for cost, prior in zip(costs, priors, strict=True):
        if not cost > 1:
            continue
        answer = "rejects" if prior * miss <= (1 - prior) * accept else "accepts"
        messages.append(
            Message("actual-cost-above-1", prior=float(prior), cost=float(cost), answer=answer)
        )
    return messages
