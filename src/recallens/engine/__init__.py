"""The engine: one object that stores, recalls and looks after memories."""

from recallens.engine.engine import Engine

__all__ = ["Engine"]
