"""Settings: defaults, config.toml, environment and flags in one frozen value."""

from ultracontext.settings.custom import CustomRule, CustomRules
from ultracontext.settings.load import all_keys, find_key, load_settings, parse_value, variable_of
from ultracontext.settings.schema import (
    LOG_LEVELS,
    AgentSettings,
    CaptureSettings,
    Settings,
    Value,
)
from ultracontext.settings.times import parse_duration, parse_time

__all__ = [
    "LOG_LEVELS",
    "AgentSettings",
    "CaptureSettings",
    "CustomRule",
    "CustomRules",
    "Settings",
    "Value",
    "all_keys",
    "find_key",
    "load_settings",
    "parse_duration",
    "parse_time",
    "parse_value",
    "variable_of",
]
