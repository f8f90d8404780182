"""What subscribers are told by a job, exactly once."""
