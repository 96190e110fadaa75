"""The steps of a recipe: each maps a State to a State."""
