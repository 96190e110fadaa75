"""Small databases on which candidate queries differ (Li & Xie 2024), with every declared constraint kept."""
