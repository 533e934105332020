"""Text to vectors. Nothing here loads a model or opens a connection until the first text."""

from recallens.index.encoders.protocol import Encoder, EncoderKey
from recallens.index.encoders.registry import DEFAULT_ENCODER, open_encoder

__all__ = ["DEFAULT_ENCODER", "Encoder", "EncoderKey", "open_encoder"]
