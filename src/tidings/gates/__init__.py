"""Where requests come in: each gate turns bytes into a request and an answer into bytes.

http      the SPARQL 1.1 Protocol; read this first
protocol  what a request of the Protocol asks for
shared    one core for many requests: reads beside each other, an update alone
turns     who may go in, and who waits
spool     an answer that is complete before its first byte is sent
admission how many requests, how large, how long
describe  the service description
page      the page for people
"""
