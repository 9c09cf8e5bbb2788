"""Capture: the only code that reads the agents' files."""

from ultracontext.capture.engine import CaptureEngine
from ultracontext.capture.options import CaptureOptions, Progress
from ultracontext.capture.rules import Rules
from ultracontext.capture.status import CaptureStatus, Committed, SourceError, Summary

__all__ = [
    "CaptureEngine",
    "CaptureOptions",
    "CaptureStatus",
    "Committed",
    "Progress",
    "Rules",
    "SourceError",
    "Summary",
]
