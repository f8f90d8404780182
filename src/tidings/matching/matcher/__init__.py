"""From scores of predicates and tuples to the best mappings; everything here computes with numpy and scipy."""
