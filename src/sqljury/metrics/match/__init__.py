"""Metrics that compare queries as they are written, part by part."""
