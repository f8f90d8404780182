"""Identifies clients, and decides what they may do. The broker gets only the outcome: the `Rights` of a client.

authority      THE STORY: settings, clock and ledger to everything below, put together; read this first
passport       who is asking, once that is known
keys           what tokens are signed with, and how that changes
tokens         read strictly, verified, remembered, revoked
clients        who is registered, with the hashes of their secrets
oauth          the authorisation server: requests to answers
issuers        OpenID Connect providers whose tokens count here as well
administration changes of all this while the broker runs, by those who may
policy         who may query, update, subscribe to and administer which graphs
limits         token buckets, by which attempts and requests are counted
audit          who did what, when, from where, and what was decided
upkeep         what has to be done now and then while a broker runs
private_file   where a secret is written
ledger         where facts are written that must survive a crash; the caller has it
settings       what an operator writes into a file
errors         what can go wrong, with the codes of the protocol

The core has no clock of its own and opens no socket: clock, ledger and HTTP client are handed in.
"""
