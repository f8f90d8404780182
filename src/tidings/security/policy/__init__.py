"""Who may do what with which graphs. Everything is forbidden unless a grant allows it.

grants     one grant, in its written form and as a value
policy     all grants: from passports to rights
policies   the policy in force: from the file, and from changes at run time, which are durable
"""
