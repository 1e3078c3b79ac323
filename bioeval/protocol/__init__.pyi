"""The public names, and where each is."""

from .card import Protocol as Protocol
from .explanation import explain as explain
from .loading import (
    available as available,
    for_layout as for_layout,
    load as load,
    parse as parse,
)
