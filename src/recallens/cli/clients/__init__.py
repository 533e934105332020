"""The coding agents that can be told of Recallens: where each keeps its configuration, and how it is written."""
