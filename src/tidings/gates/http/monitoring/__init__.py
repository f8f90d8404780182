"""For those who run a broker or write programs for it: health, counters, who has subscribed, all paths described."""
