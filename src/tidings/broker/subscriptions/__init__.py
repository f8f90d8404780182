"""Who has subscribed to what, what each subscriber is owed, and how one that was away catches up."""
