"""Patterns seen in another way before they are planned; none of this changes what they mean.

links         joined patterns, each next to one that it shares a variable with
path_groups   what binds the ends of each path among joined patterns
signs         by which patterns a change inside EXISTS is seen
stacks        what stands on top of each other in a SELECT, and EXISTS among it
"""
