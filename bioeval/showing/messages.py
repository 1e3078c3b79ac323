"""The messages of a result, for programs: codes and arguments, with their sentences."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple, ParamSpec, TypeVar

import xarray as xr

from bioeval.base.errors import (
    DataError,
    Message,
    escaped,
    joined_messages,
    messages_of,
    printable,
    received,
    warn_user,
)
from bioeval.results.attributes import THRESHOLD_STUDY
from bioeval.showing.nodes import datasets, system_and_task
from bioeval.showing.numbers import Lines
from bioeval.showing.printing import Shown
from bioeval.showing.sentences import ANSWERS, SENTENCES, Doubt

P = ParamSpec("P")
R = TypeVar("R")

# Whether a call of a public function is under way; the outermost call warns of its result.
_INSIDE: ContextVar[bool] = ContextVar("inside", default=False)


class ResultMessage(NamedTuple):
    """A message of a result."""

    code: str
    arguments: Mapping[str, Any]
    sentence: str
    about: tuple[str, ...] = ()  # the parts of the data, such as a sequence, that it is about


def messages(result: Any) -> list[ResultMessage]:
    """Return the messages of a result, each once: its answers, then notes and warnings.

    Parameters
    ----------
    result : xarray.Dataset, xarray.DataTree or DataCheck
        The result of a function of bioeval, or a result that was loaded from a file. For a data
        check, the messages are its findings, except the checks that passed.

    Returns
    -------
    list of ResultMessage
        Each with its code, by which a program recognises it, its arguments, and its sentence.
        Sentences name arguments of Python, and rates by their default words (FAR and FRR).

    Raises
    ------
    DataError
        If `result` is something else.

    Examples
    --------
    >>> import bioeval as be
    >>> zoo = be.zoo(be.simulate(5, 4, random_state=1))
    >>> [message.code for message in be.messages(zoo)[:2]]
    ['most-errors', 'animals-not-tested']
    """
    if not isinstance(result, xr.Dataset | xr.DataTree | Shown):
        raise DataError(
            f"messages got {received(result)}; expected a result: a Dataset, a DataTree or a check"
        )
    lines = Lines()
    listed = {}
    found: Iterable[Message] = ()
    if isinstance(result, Shown):
        found = result.messages
    else:
        found = (x for _, dataset in datasets(result) for x in messages_of(dataset.attrs))
    for message in sorted(found, key=lambda x: x.code not in ANSWERS):
        sentence = lines.message(message)
        listed[message] = ResultMessage(message.code, message.arguments, sentence, message.about)
    return list(listed.values())


def sentence_about(message: Message) -> str:
    """Return the sentence of a message, after the names of the parts of the data."""
    lines = Lines()
    about = [lines.literal(printable(escaped(name))) for name in message.about]
    return ": ".join([*about, lines.message(message)])


def warn_of(messages: Iterable[Message]) -> None:
    """Issue a warning at the user's line for each message that doubts a number, once.

    A function with :func:`warns_of_doubts` warns of its own result: nothing is issued inside it.
    """
    if _INSIDE.get():
        return
    doubts = (message for message in messages if isinstance(SENTENCES[message.code], Doubt))
    for sentence in dict.fromkeys(map(sentence_about, doubts)):
        warn_user(sentence)


def warns_of_doubts(function: Callable[P, R]) -> Callable[P, R]:
    """Let a public function warn of the messages of its result that doubt a number, each once."""

    @functools.wraps(function)
    def called(*args: P.args, **options: P.kwargs) -> R:
        token = _INSIDE.set(True)
        try:
            result = function(*args, **options)
        finally:
            _INSIDE.reset(token)
        # The messages of the results of each system, each once.
        by_system: dict[str, dict[Message, None]] = {}
        nodes = [result]
        if isinstance(result, xr.DataTree) and result.attrs.get("result_type") != THRESHOLD_STUDY:
            nodes = [*result.subtree]
        for node in nodes:
            if isinstance(node, xr.Dataset | xr.DataTree) and node.attrs:
                path = node.path.strip("/") if isinstance(node, xr.DataTree) else ""
                of_system = by_system.setdefault(system_and_task(path)[0], {})
                of_system |= dict.fromkeys(messages_of(node.attrs))
        warn_of(joined_messages(by_system))
        return result

    return called
