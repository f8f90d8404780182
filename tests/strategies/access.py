"""Random rights over the few graphs of `strategies.data`: by name, by prefix, all of them, none of them."""

from hypothesis import strategies as st

from strategies.data import EX, GRAPHS
from tidings.engine.store.store import Store
from tidings.model.access import Graphs, Rights

_names = st.frozensets(st.sampled_from(("", *GRAPHS)), max_size=2)
_prefixes = st.lists(st.sampled_from(("", EX, f"{EX}g", f"{EX}h", f"{EX}nowhere")), max_size=2).map(tuple)
some_graphs: st.SearchStrategy[Graphs] = st.one_of(
    st.builds(Graphs, names=_names),
    st.builds(Graphs, names=_names, prefixes=_prefixes),
    st.sampled_from((Graphs.ALL, Graphs.NONE)),
)
rights: st.SearchStrategy[Rights] = st.builds(Rights, some_graphs, some_graphs, some_graphs)
readers: st.SearchStrategy[Rights] = some_graphs.map(lambda graphs: Rights(read=graphs, subscribe=graphs))


def only(store: Store, graphs: Graphs) -> Store:
    """A store that holds these graphs and nothing else."""
    return Store(quad for quad in store if graphs.has(quad[3]))
