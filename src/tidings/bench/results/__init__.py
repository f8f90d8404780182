"""The results of a run: samples, statistics, indicators, and their files."""
