"""Rows and reports in the test's hands, as tests of the kernel's sections have them."""

from tests.gnomon.report.conftest import alerts_of, many, pairs, quiz, report_of, row, spec

__all__ = ["alerts_of", "many", "pairs", "quiz", "report_of", "row", "spec"]
