"""The tests of the suite. Each gets a target that is open and has its data, and yields measurements.

update        insert n triples                      subscription  time to notification, loss, duplicates, order
query         simple and complex                    stress        rising load until a bound is missed
mixed         open-loop updates on the city         lighting      the experiments of the SPS paper
chat          the experiments of the SEPA paper     soak          for a while, with memory watched
"""
