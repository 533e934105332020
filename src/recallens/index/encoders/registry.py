"""From the setting's one line to the encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recallens.errors import InvalidInput, UnknownOption

if TYPE_CHECKING:
    from recallens.index.encoders.protocol import Encoder

DEFAULT_ENCODER = "minilm"
FORMS = (
    "minilm", "multilingual", "openai:MODEL", "ollama:MODEL", "fastembed:MODEL", "hashing", "hashing:DIM", "none",
)  # fmt: skip


def open_encoder(
    spec: str = DEFAULT_ENCODER, *, base_url: str | None = None, api_key: str | None = None,
    dimension: int | None = None, threads: int = 1,
) -> Encoder | None:  # fmt: skip
    """None for `none`: lexical only. A model is loaded, or a server asked, at the first text and not here."""
    name, _, argument = spec.partition(":")
    match name, argument:
        case "none", "" if spec == name:
            return None
        case "minilm", "" if spec == name:
            from recallens.index.encoders.minilm import DIMENSION, MiniLMEncoder

            _refuse_other_dimension(spec, asked=dimension, made=DIMENSION)
            return MiniLMEncoder(threads=threads)
        case "multilingual", "" if spec == name:
            from recallens.index.encoders import multilingual

            _refuse_other_dimension(spec, asked=dimension, made=multilingual.DIMENSION)
            return multilingual.MultilingualEncoder(threads=threads)
        case "openai" | "ollama", model if model:
            from recallens.index.encoders.remote import open_ollama, open_openai

            open_remote = open_openai if name == "openai" else open_ollama
            return open_remote(model, base_url=base_url, api_key=api_key, dimension=dimension)
        case "fastembed", model if model:
            from recallens.index.encoders.fastembed import FastembedEncoder

            encoder = FastembedEncoder(model, threads=threads)
            if dimension is not None:
                _refuse_other_dimension(spec, asked=dimension, made=encoder.key.dimension)
            return encoder
        case "hashing", size if spec == name or (size.isascii() and size.isdecimal() and int(size) > 0):
            from recallens.index.encoders.hashing import DEFAULT_DIMENSION, HashingEncoder

            made = int(size) if size else DEFAULT_DIMENSION if dimension is None else dimension
            _refuse_other_dimension(spec, asked=dimension, made=made)
            return HashingEncoder(made)
        case _:
            raise UnknownOption("encoder", spec, FORMS)


def _refuse_other_dimension(spec: str, *, asked: int | None, made: int) -> None:
    if asked not in (None, made):
        raise InvalidInput(f"the encoder {spec} makes vectors of {made} numbers, not {asked}")
