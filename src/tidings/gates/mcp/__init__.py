"""The Model Context Protocol: the broker as the memory and the event bus of software agents.

    tool call -> requests -> desk -> Caller -> Broker -> sizing -> an answer that fits into a context window
    commit -> watching -> resources/updated

requests    the requests of agents as values, and the descriptions of the tools
desk        carries out requests; it is independent of the protocol
sizing      writes terms and rows briefly, and as many as fit into a context window
vocabulary  lists the classes and predicates of the graph
watches     the queries that agents watch, and what each has seen: facts of the commit log
watching    tells agents that a watched answer has changed
proxy       the same over stdin and stdout, for an agent that starts it
server      the tools and resources, by the official SDK; gate has the interface of a gate
"""
