"""The public names, and where each is."""

from .card import Protocol as Protocol
from .loading import (
    available as available,
    explain as explain,
    for_layout as for_layout,
    load as load,
    parse as parse,
)
