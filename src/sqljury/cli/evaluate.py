def evaluate() -> None:
    pass
