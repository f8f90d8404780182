"""The performance evaluation suite: workloads and experiments that measure a broker from outside."""
