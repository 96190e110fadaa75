"""Models behind one protocol."""
