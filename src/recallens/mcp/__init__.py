"""MCP: the operations as tools of a coding agent, over stdio and HTTP."""
