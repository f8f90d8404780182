"""The performance evaluation suite: benchmark cities and workloads, for a broker seen from outside."""
