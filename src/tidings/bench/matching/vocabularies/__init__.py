"""Words for event sets: two for tests, and one for calibration that no test uses. They are written for this project."""
