"""Judging prediction files and runs."""
