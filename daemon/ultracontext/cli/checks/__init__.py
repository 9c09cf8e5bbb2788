"""What `doctor` looks at: one module a subject, each gives findings."""

from ultracontext.cli.checks.finding import ERROR, INFO, WARNING, Finding
from ultracontext.cli.checks.whole import all_findings

__all__ = ["ERROR", "INFO", "WARNING", "Finding", "all_findings"]
