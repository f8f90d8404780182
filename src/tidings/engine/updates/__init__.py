"""From the text of an update to its exact net delta."""
