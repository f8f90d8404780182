"""Plans that are behind: a step that takes more work than its slice goes on in a fork, and its plan catches up later.

costs        what each plan has cost, in seconds
straggler    one plan that is behind: adds up changes, works out a round in a fork, goes on with the outcome
stragglers   the slices of all steps, and the plans that are behind
"""
