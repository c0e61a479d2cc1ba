"""The suite that proves a memory provider: `hermes-state memory check NAME`, or `pytest --memory-provider NAME`."""

from memory.conformance.report import Finding, Report
from memory.conformance.rules import RULES, Rule
from memory.conformance.suite import Result, names, run, run_check

__all__ = ["RULES", "Finding", "Report", "Result", "Rule", "names", "run", "run_check"]
