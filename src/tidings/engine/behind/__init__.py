"""Plans that are behind: a step that takes more work than its slice goes on in a fork, and its plan catches up later.

costs        what each plan has cost, in seconds
straggler    one plan that is behind: what is added up, what a fork works out, how the plan goes on
stragglers   the slices of all steps, and who is behind
"""
