"""Questions in, SQL that has been tried out."""
