"""How good and how fast approximate matching is: event sets as in the paper, rebuilt from vocabularies of our own."""
