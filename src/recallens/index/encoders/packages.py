"""Packages that an encoder needs: looked for without importing them, missed with the line that installs."""

from __future__ import annotations

from importlib.util import find_spec

from recallens.errors import EncoderMissing


def require(package: str, *, encoder: str, install: str) -> None:
    if find_spec(package) is None:
        raise EncoderMissing(f"the encoder {encoder} needs the package {package}:", hint=f"pip install {install}")
