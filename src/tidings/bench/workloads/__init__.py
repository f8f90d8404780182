"""The workloads: generators of knowledge bases of any size, with their queries and updates."""
