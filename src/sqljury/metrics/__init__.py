"""How good a predicted query is: one metric a module, each a function of values, none knowing of a dataset."""
