"""The tables and figures of the five papers, and what computes them here."""
