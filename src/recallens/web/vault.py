"""The vaults: folders of notes, their files, and the sections that are memories."""

from __future__ import annotations

from itertools import groupby

from recallens.engine.vaults import FILES_A_PAGE
from recallens.model.vault import FiledSections
from recallens.web.answering import Page
from recallens.web.visits import Visit

MOST_PAGES = 10_000


def vault(visit: Visit) -> Page:
    engine, namespace = visit.engine, visit.namespace
    known = engine.vaults.all(namespace=namespace)
    counts = engine.vaults.counts(namespace=namespace)
    chosen = visit.given.get("vault", "") or (known[0].name if known else "")
    like = visit.given.get("file", "").strip()
    if not chosen:
        return Page("vault.html", {"vaults": known, "counts": counts, "page": None})
    at = visit.whole("page", 1, MOST_PAGES)
    page = engine.vaults.files(chosen, like=like, offset=(at - 1) * FILES_A_PAGE, namespace=namespace)
    return Page(
        "vault.html",
        {
            "vaults": known,
            "counts": counts,
            "page": page,
            "like": like,
            "at": at,
            "pages": max(1, -(-page.total // FILES_A_PAGE)),
            "folders": [(name, list(files)) for name, files in groupby(sorted(page.files, key=_folder), key=_folder)],
        },
    )


def _folder(filed: FiledSections) -> str:
    return filed.file.path.rpartition("/")[0]
