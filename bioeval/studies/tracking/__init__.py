"""Multi-object tracking: CLEAR MOT, identity measures and HOTA."""
