"""HTTP: the operations as routes, with tokens, limits and problem details."""
