"""Rows of the vault tables as values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from recallens.model.vault import KnownSection, Link, Placed, Seen, Vault, VaultFile, VaultOptions


def vault_of(row: Sequence[Any]) -> Vault:
    id, namespace, name, root, options, created, synced = row
    return Vault(id, namespace, name, root, _options_of(options), created, synced)


def file_of(row: Sequence[Any]) -> VaultFile:
    path, document, digest, mtime, ctime, size, error = row
    return VaultFile(path, document, digest, Seen(mtime, ctime, size), error)


def section_of(row: Sequence[Any]) -> KnownSection:
    num, id, document, digest, title, created, *placed = row
    return KnownSection(num, id, document, _placed_of(placed), digest, title, created)


def names_of(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def links_of(text: str) -> tuple[Link, ...]:
    return () if text == "[]" else tuple(Link(*link) for link in json.loads(text))


def _options_of(text: str) -> VaultOptions:
    values: dict[str, Any] = json.loads(text)
    lists: dict[str, Any] = {name: tuple(item) for name, item in values.items() if isinstance(item, list)}
    return VaultOptions(**(values | lists))


def _placed_of(row: Sequence[Any]) -> Placed:
    position, headings, anchors, digest, body, links = row
    return Placed(position, names_of(headings), names_of(anchors), digest, body, links_of(links))
