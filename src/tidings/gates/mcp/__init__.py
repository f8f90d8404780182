"""The Model Context Protocol: the broker as the memory and the event bus of software agents.

    tool call -> requests -> desk -> Caller -> Broker -> sizing -> an answer that fits into a context window
    commit -> watching -> resources/updated

requests    what an agent can ask for, as values, and the descriptions of the tools
desk        carries requests out; it knows no protocol
sizing      terms and rows, short, and no more of them than fit
vocabulary  what there is to ask about
watches     what agents want to hear of, and what each has seen: facts of the commit log
watching    tells whoever listens that something has changed
proxy       the same over stdin and stdout, for an agent that starts it
server      the tools and resources, by the official SDK; gate is what the process sees of it
"""
