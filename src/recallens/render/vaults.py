"""Vaults, and what a sync of them did, as records."""

from __future__ import annotations

from typing import Any

from recallens.model.vault import Problem, SyncReport, Vault, VaultSync


def report_record(report: SyncReport) -> dict[str, Any]:
    return {"vaults": [sync_record(one) for one in report.vaults]}


def sync_record(one: VaultSync) -> dict[str, Any]:
    return {
        "name": one.vault, "root": one.root, "added": list(one.added), "changed": list(one.changed),
        "renamed": [{"from": old, "to": new} for old, new in one.renamed], "removed": list(one.removed),
        "unchanged": one.unchanged, "errors": _problems(one.errors), "skipped": _problems(one.skipped),
        "droppedScopes": [{"scope": problem.path, "reason": problem.reason} for problem in one.dropped_scopes],
        "sections": {"indexed": one.sections_indexed, "kept": one.sections_kept, "removed": one.sections_removed},
    }  # fmt: skip


def _problems(problems: tuple[Problem, ...]) -> list[dict[str, str]]:
    return [{"path": problem.path, "reason": problem.reason} for problem in problems]


def vault_record(vault: Vault, counts: tuple[int, int]) -> dict[str, Any]:
    options = vault.options
    record = {
        "name": vault.name, "root": vault.root, "files": counts[0], "sections": counts[1], "project": options.project,
        "scopes": list(options.scopes), "include": list(options.include), "exclude": list(options.exclude),
        "includeRaw": options.include_raw, "includeOperational": options.include_operational,
        "createdAt": vault.created, "syncedAt": vault.synced,
    }  # fmt: skip
    return {name: value for name, value in record.items() if value is not None}
