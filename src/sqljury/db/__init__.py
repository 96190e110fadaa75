"""Databases behind one protocol, opened for reading only."""
