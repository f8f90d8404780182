"""Who may do what with which graphs: nobody anything, unless a grant says so.

grants     one grant: to whom, and what; as it is written and as a value
policy     all of them: passports to rights
policies   the policy that holds now: from the file and from changes while running, durable
"""
