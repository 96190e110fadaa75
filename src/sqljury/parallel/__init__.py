"""Work on many items at once: threads, processes, workers of a cluster."""
