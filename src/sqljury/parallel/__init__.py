"""Work on many items at once: threads, processes."""
