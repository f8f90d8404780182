"""What a run has measured: samples, statistics, indicators, and the files that keep them."""
