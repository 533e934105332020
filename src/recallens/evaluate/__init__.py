"""Measuring recall on judged questions, through the same path that users take."""
