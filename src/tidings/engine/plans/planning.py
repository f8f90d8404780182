"""From the text of a query to its plan: read, made or found, and entered in the LUTT.

All of that happens at once for what is small. Large texts are read and planned apart, in a thread; here it is only
entered then, and if it turns out that things have changed meanwhile, the plan is made here all the same.
"""

from msgspec import Struct

from tidings.engine.plans.lift import canonical, ordered_slices
from tidings.engine.plans.plan_cache import Maker, PlanCache
from tidings.engine.plans.query_template import QueryTemplate
from tidings.engine.plans.spu import Spu
from tidings.engine.routing import Routing
from tidings.engine.store.before import Before
from tidings.engine.updates.executor import Core
from tidings.model.access import Rights
from tidings.sparql.algebra import Dataset, Query, with_pattern
from tidings.sparql.evaluate.context import UNLIMITED
from tidings.sparql.evaluate.layout import Row
from tidings.sparql.nesting import followed
from tidings.sparql.parser.cursor import Cursor
from tidings.sparql.prepared import Parameters, Template, Templates


class Apart(Struct, frozen=True):
    """What was planned apart: for the LUTT, and for one newcomer alone."""

    template: Template[QueryTemplate]
    spu: Spu
    make: Maker
    plan: Spu


class Planning:
    """The plans of an engine, and the texts that lead to them."""

    def __init__(self, core: Core, before: Before, routing: Routing, *, naive: bool) -> None:
        self._core = core
        self._routing = routing
        self.plans = PlanCache(core, before, naive=naive)
        self._templates = Templates(lambda cursor, dataset: QueryTemplate(core.read_query(cursor, dataset), self.plans))
        self._understood = Templates(self._read_understood)
        self.warnings: dict[Spu, tuple[str, ...]] = {}

    def _read_understood(self, cursor: Cursor, dataset: Dataset | None) -> Query:
        query = self._core.read_query(cursor, dataset)
        return canonical(with_pattern(query, ordered_slices(query.pattern)))[0]

    def understood(self, text: str, dataset: Dataset | None) -> tuple[Query, Parameters]:
        """A query as subscriptions understand it, where the recommendation leaves a choice: which rows LIMIT takes."""
        return self._understood.prepare(text, self._core.base, dataset)

    def template(self, text: str, dataset: Dataset | None) -> tuple[QueryTemplate, Parameters]:
        """A query that is to be subscribed, read but not planned. Raises what is wrong with it."""
        return self._templates.prepare(text, self._core.base, dataset)

    def find(self, text: str, dataset: Dataset | None, rights: Rights) -> tuple[QueryTemplate, Spu, Row]:
        """The plan of a query, entered in the LUTT, and the member of it that the query is."""
        template, values = self.template(text, dataset)
        with followed():
            spu, member = template.spu(values, rights.subscribe)
        if spu not in self._routing.sizes:
            self._routing.enter(spu, every_commit=self.plans.is_evaluated_every_time(spu))
            if template.warnings:
                self.warnings[spu] = template.warnings
        return template, spu, member

    def leave(self, spu: Spu) -> None:
        """Nobody has a plan any more."""
        self._routing.leave(spu)
        self.warnings.pop(spu, None)
        self.plans.forget(spu)

    def apart(self, text: str, dataset: Dataset | None, rights: Rights) -> Apart:
        """Read a text and make a plan of it, in a thread. Nothing here changes by that, but for the plans that there
        are; counts of the store that change meanwhile only make a plan better or worse. Raises RuntimeError if they
        could not be read for that reason."""
        template, values = self._templates.read(text, self._core.base, dataset)
        with followed():
            spu, _ = template.made.spu(values, rights.subscribe)
            make = self.plans.maker(spu)
            return Apart(template, spu, make, make(UNLIMITED))

    def take_over(self, apart: Apart) -> None:
        """Have what was read apart found here, too."""
        self._templates.keep(apart.template)

    def discard(self, apart: Apart) -> None:
        """Nobody needs it any more."""
        if apart.spu in self.plans and not apart.spu.members:
            self.plans.forget(apart.spu)
