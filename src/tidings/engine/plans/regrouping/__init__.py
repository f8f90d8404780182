"""Rewrites patterns into equivalent ones before they are planned, for which there are better delta rules.

by_the_clock  which conditions on NOW() can be kept up to date by ticks
comparisons   rows compared with a scalar, of a sub-SELECT or of patterns that nothing else connects with them
equalities    patterns connected only by a filter with `=`, also by OPTIONAL and EXISTS
exclusions    the right side of MINUS, reduced to what can exclude rows
graphs        GRAPH ?g, spread over the parts of its pattern
links         joined patterns, ordered so that each shares a variable with those before it
path_groups   the patterns that bind the ends of each path, among joined patterns
restating     applies such rewrites at the top of a pattern
scalars_aside groups over a join with a scalar, such as a total: the group goes below the join
signs         the patterns whose changes reveal a change inside EXISTS
stacks        DISTINCT, projection and order above a pattern, and EXISTS in them
sub_selects   sub-SELECTs inside EXISTS that can be replaced by their patterns
surpassing    EXISTS that asks for a greater value, or a lesser one
witnessing    the witnesses that watch the right side of OPTIONAL, MINUS and EXISTS
"""
