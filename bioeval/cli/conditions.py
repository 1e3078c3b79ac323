"""The option ``--fail-if``: conditions with which a command fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bioeval.cli.arguments import Value
from bioeval.cli.command import F, option


def fail_if(example: str, *words: str) -> Callable[[F], F]:
    """Return the option ``--fail-if`` of a command, with an example of its own numbers.

    `words` are conditions on the verdicts of the command.
    """
    form = "MEASURE[=POINT][@DIMENSION=VALUE,...]"
    expected = f'{form} > X, < X, >= X or <= X, such as "{example}"'
    if words:
        expected += f"; or {' or '.join(words)}"

    def condition(text: str) -> Any:
        from bioeval.showing.conditions import Condition

        return Condition.parse(text, words)

    listed = "".join(f"{x}, or " for x in words)
    return option(
        "--fail-if CONDITION",
        f'End with exit code 1 if it is true, or cannot be told: {listed}"{example}"; repeatable.',
        Value("condition", condition, expected),
        multiple=True,
        name="fail_if",
    )
