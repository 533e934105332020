"""What some model families were trained to see before a query and before a document.

The prefix is part of the encoder's key: the same model with another prefix makes other vectors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prefix:
    name: str
    query: str
    document: str


NONE = Prefix("none", "", "")
# https://huggingface.co/nomic-ai/nomic-embed-text-v1.5 (v1, v1.5 and v2-moe alike)
NOMIC = Prefix("nomic", "search_query: ", "search_document: ")
# Wang et al., 2022, arXiv:2212.03533; multilingual-e5 likewise, arXiv:2402.05672
E5 = Prefix("e5", "query: ", "passage: ")
# https://huggingface.co/intfloat/e5-mistral-7b-instruct: documents carry no instruction
E5_INSTRUCT = Prefix(
    "e5-instruct",
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ",
    "",
)

# Tried in order, on the name in lower case: the instruct variants are e5 too, so they come first.
FAMILIES = (
    (re.compile(r"nomic-embed-text"), NOMIC),
    (re.compile(r"\be5-mistral|\be5\b.*instruct"), E5_INSTRUCT),
    (re.compile(r"\be5\b"), E5),
)


def prefix_for(model: str) -> Prefix:
    """By the model's name, whoever serves it: `intfloat/e5-small-v2`, `nomic-embed-text:latest`."""
    name = model.lower().replace("_", "-")
    return next((prefix for family, prefix in FAMILIES if family.search(name)), NONE)
