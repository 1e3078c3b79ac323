"""Messages of results by their codes."""

from collections.abc import Mapping
from typing import Any

import bioeval as be


def codes(result: Any) -> list[str]:
    """Return the codes of the messages of a result."""
    return [message.code for message in be.messages(result)]


def arguments(result: Any, code: str) -> Mapping[str, Any]:
    """Return the arguments of the only message with a code."""
    (message,) = [x for x in be.messages(result) if x.code == code]
    return message.arguments
