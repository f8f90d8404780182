"""From the text of a query to its plan: parses the text, finds or makes the plan, and enters it in the LUTT.

For a small text, the event loop does all of this at once. A large text is parsed and planned *apart*, in a thread; the
event loop then only enters the plan. If that does not work out because of other changes, it makes the plan itself.
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
    """The plans that a thread has made: `spu` for the LUTT, and `plan` for one newcomer alone."""

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
        """Parse a query as for a subscription: LIMIT takes definite rows, which the recommendation leaves open."""
        return self._understood.prepare(text, self._core.base, dataset)

    def template(self, text: str, dataset: Dataset | None) -> tuple[QueryTemplate, Parameters]:
        """Parse the query of a subscription, without planning it. Raises its error, if it has one."""
        return self._templates.prepare(text, self._core.base, dataset)

    def find(self, text: str, dataset: Dataset | None, rights: Rights) -> tuple[QueryTemplate, Spu, Row]:
        """The plan of a query, entered in the LUTT, and the query's member of this plan."""
        template, values = self.template(text, dataset)
        with followed():
            spu, member = template.spu(values, rights.subscribe)
        if spu not in self._routing.sizes:
            self._routing.enter(spu, every_commit=self.plans.is_evaluated_every_time(spu))
            if template.warnings:
                self.warnings[spu] = template.warnings
        return template, spu, member

    def leave(self, spu: Spu) -> None:
        """Remove a plan that has no members any more."""
        self._routing.leave(spu)
        self.warnings.pop(spu, None)
        self.plans.forget(spu)

    def apart(self, text: str, dataset: Dataset | None, rights: Rights) -> Apart:
        """Runs in a thread: parse a text and make its plan. This changes only the plan cache. If the counts of the
        store change meanwhile, the plan may be slower; raises RuntimeError if they cannot be read because of that."""
        template, values = self._templates.read(text, self._core.base, dataset)
        with followed():
            spu, _ = template.made.spu(values, rights.subscribe)
            make = self.plans.maker(spu)
            return Apart(template, spu, make, make(UNLIMITED))

    def take_over(self, apart: Apart) -> None:
        """Keep the template of a text that a thread has parsed."""
        self._templates.keep(apart.template)

    def discard(self, apart: Apart) -> None:
        """Remove a plan that was made apart, unless it has members."""
        if apart.spu in self.plans and not apart.spu.members:
            self.plans.forget(apart.spu)
