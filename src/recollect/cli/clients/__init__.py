"""The coding agents that can be told of Recollect: where each keeps its configuration, and how it is written."""
