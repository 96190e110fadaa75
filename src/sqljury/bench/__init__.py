"""Dataset x recipe x metric: runs that can be continued, and reports on them."""
