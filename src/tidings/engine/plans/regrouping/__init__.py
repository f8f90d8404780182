"""Rewrites patterns into equivalent ones before they are planned, for which there are better delta rules.

by_the_clock  which conditions on NOW() can be kept up to date by ticks
comparisons   rows compared with what a sub-SELECT says for all of them, or by a key
equalities    patterns that nothing but a filter by `=` connects, also behind OPTIONAL and inside EXISTS
exclusions    what of the right side of MINUS may exclude anything
graphs        GRAPH ?g, spread over what stands in it
links         joined patterns, each next to one that it shares a variable with
path_groups   what binds the ends of each path among joined patterns
restating     a pattern said in another way, for which there is a better rule
scalars_aside groups that a total stands beside
signs         by which patterns a change inside EXISTS is seen
stacks        what stands on top of each other in a SELECT, and EXISTS among it
sub_selects   sub-SELECTs inside EXISTS that are no more than their patterns
surpassing    EXISTS that asks for something greater, or less
witnessing    who watches the right side of OPTIONAL, MINUS and EXISTS
"""
