"""Which subscriptions a job has: who asked for them, which unit each belongs to, and what it begins with."""
