"""The messages of a result, for programs: codes and arguments, with their sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import xarray as xr

from bioeval.base.errors import DataError, escaped, printable, received
from bioeval.base.messages import Message, messages_of, warn_user
from bioeval.document.results import messages_of_result
from bioeval.views.show import Shown
from bioeval.views.tasks import datasets
from bioeval.views.writers.lines import Lines


class ResultMessage(NamedTuple):
    """A message of a result."""

    code: str
    arguments: Mapping[str, Any]
    sentence: str
    about: tuple[str, ...] = ()  # the parts of the data, such as a sequence, that it is about


def messages(result: Any) -> list[ResultMessage]:
    """Return the messages of a result, each once.

    Parameters
    ----------
    result : xarray.Dataset, xarray.DataTree or DataCheck
        What a function of bioeval returned, or a result that was loaded from a file. Of a check of
        data the messages are its findings but for those without a fault.

    Returns
    -------
    list of ResultMessage
        The code of each, by which a program recognises it, its arguments, and its sentence in the
        words of Python and of the lecture.

    Raises
    ------
    DataError
        If `result` is something else.

    Examples
    --------
    >>> import bioeval as be
    >>> zoo = be.zoo(be.simulate(5, 4, random_state=1))
    >>> for message in be.messages(zoo)[:1]:
    ...     print(message.code, message.arguments["animals"])
    animals-not-tested goats
    """
    if not isinstance(result, xr.Dataset | xr.DataTree | Shown):
        raise DataError(
            f"messages got {received(result)}; expected a result: a Dataset, a DataTree or a check"
        )
    lines = Lines()
    listed = {}
    for message in _messages_in(result):
        sentence = lines.message(message)
        listed[message] = ResultMessage(message.code, message.arguments, sentence, message.about)
    return list(listed.values())


def _messages_in(result: Any) -> Iterator[Message]:
    """Yield the messages of a result."""
    if isinstance(result, Shown):
        yield from result.messages
        return
    for _, dataset in datasets(result):
        yield from messages_of_result(dataset)


def sentences(dataset: xr.Dataset | xr.DataTree) -> list[str]:
    """Return the sentences of the messages of a dataset, each once, after what they are about."""
    return list(dict.fromkeys(map(sentence_about, messages_of_result(dataset))))


def sentence_about(message: Message) -> str:
    """Return the sentence of a message, after the names of what it is about."""
    lines = Lines()
    about = [lines.literal(printable(escaped(name))) for name in message.about]
    return ": ".join([*about, lines.message(message)])


def warn_of_kind(message: Message | None) -> None:
    """Issue a warning at the user's line if a message says that the kind is probably wrong."""
    if message is not None and message.code == "kind-wrong":
        warn_user(sentence_about(message))


def warn_of_kinds(dataset: xr.Dataset) -> xr.Dataset:
    """Return a dataset, after a warning if its messages say that the kind is probably wrong."""
    if "kind-wrong" in dataset.attrs.get("messages", ""):
        for message in messages_of(dataset.attrs):
            warn_of_kind(message)
    return dataset
