"""Real data that come with bioeval: :func:`faces`, 400 images of 40 people."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
