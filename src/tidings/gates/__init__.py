"""Where requests come in: each gate turns bytes into a request and an answer into bytes.

http       the SPARQL 1.1 Protocol, and all paths; read this first
express    the short way in for updates; publishing is what both ways do
websocket  the Subscribe language, and requests for publishers in a hurry
protocol   what a request of the Protocol asks for
language   what a message of the Subscribe language asks for
wire       notifications and answers as bytes
answers    results in the format that was asked for
admission  how many requests, how large, how long; patience is for headers that do not come
describe   the service description
page       the page for people
sse        subscriptions as event streams
graphstore whole graphs
feed       the log, and what is added to it; commits are its lines
operations health, subscriptions, delayed updates; status and metrics are what it counts
streams    answers without an end; sending is for those that have one
routing    what all paths have in common
openapi    all paths, described for programs
"""
