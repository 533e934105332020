"""Text to vectors. Nothing here loads a model or opens a connection until the first text."""

from recollect.index.encoders.protocol import Encoder, EncoderKey
from recollect.index.encoders.registry import DEFAULT_ENCODER, open_encoder

__all__ = ["DEFAULT_ENCODER", "Encoder", "EncoderKey", "open_encoder"]
