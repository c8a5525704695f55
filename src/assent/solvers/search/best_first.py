"""Branch and bound: subproblems are bounded one by one until none can hold a better answer."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assent.compile.closure import Closure
from assent.compile.compiled import Compiled, GraphScores
from assent.errors import ModelError
from assent.kernels import random_numbers
from assent.kernels.compile_clock import solving_seconds
from assent.kernels.core import schedule
from assent.kernels.problem import DualPoint, Float
from assent.proof import certify
from assent.proof.field_checks import Known
from assent.proof.gap_rule import allowed_gap
from assent.proof.proof_tree import Fixed, Refuted, Trusted
from assent.proof.replay import Others
from assent.result import Result, Status
from assent.solvers.base.incumbent import Incumbent
from assent.solvers.base.outcome import Outcome
from assent.solvers.base.protocol import Request
from assent.solvers.base.rounding import Rounder, as_they_are, due_at_node
from assent.solvers.base.search_tree import Node, SearchTree
from assent.solvers.base.stop_reasons import CALLED_OFF, INTERRUPTED, ROUNDING_ONLY, TIME_LIMIT
from assent.solvers.programs.highs import has_highs
from assent.solvers.programs.trusted_core import search_core
from assent.solvers.search.search_node import Start, Subproblem, bound_subproblem
from assent.trace import Progress, Trace

if TYPE_CHECKING:
    from assent.solvers.search.branch_and_bound import BranchAndBound
    from assent.solvers.search.lawler import Partition

# Values fixed by a dual point are worth compiling anew from this share of the coordinates on.
WORTH_COMPILING = 0.2
# Problems of more links are not bounded by the second solver, which writes out rows.
SECOND_LINKS = 60_000
# The second solver has all nodes if it leaves no more than this share of the first one's gap.
BETTER = 0.7
# What is undecided is given to another solver after this many nodes and seconds, and again after
# twice as many nodes: a proof of our own can be rechecked, and is often quick.
CORE_AFTER = 20
CORE_SECONDS = 1.0
# Marginals this close to a whole number are no less disputed than that.
DECIDED = 0.02
# At most this share of the time goes into roundings.
ROUNDING_SHARE = 0.25

OUT_OF_MEMORY = f"Out of memory. {Status.STOPPED.value}"
NODE_LIMIT = f"Node limit. {Status.STOPPED.value}"


@dataclass(eq=False, kw_only=True)
class BoundedNode(Node):
    """A subproblem; ``known`` is its parent's, before its own literals are propagated."""

    known: Known


class BestFirstSearch:
    """One search in progress."""

    dual = None  # it ends with no link scores that are better than those it began at

    def __init__(
        self,
        settings: BranchAndBound,
        compiled: Compiled,
        scores: GraphScores,
        request: Request,
        start: Start | None,
        closure: Closure | None = None,
        known: Known | None = None,
    ) -> None:
        self.settings, self.compiled, self.scores = settings, compiled, scores
        self.started, self.deadline = request.started, request.deadline
        self.report = request.report
        self.closure = closure or Closure(compiled)
        self.incumbent = Incumbent()
        self.random_state = random_numbers.first_random_state(request.seed)
        self.rounding_seconds = 0.0
        given = compiled.fixed if known is None else known  # what is searched
        self.tree = SearchTree(BoundedNode(known=given, start=start))
        self.trace = Trace()
        self.nodes = 0
        self.done = 0.0  # nodes, and iterations of decoders in them
        self.until = np.inf  # ... after which the search pauses
        self.message = ""  # why it is over
        self.root: Subproblem | None = None
        self.solver = settings.solver
        self.core_at = CORE_AFTER
        self.core_bound = np.inf  # what another solver says of all that is left
        self.core_proof: Any = None
        self.called_off = False

    # ------------------------------------------------------------ where it stands

    @property
    def bound(self) -> float:
        """No assignment is worth more."""
        return max(min(self._tree_bound, self.core_bound), self.incumbent.value)

    @property
    def _tree_bound(self) -> float:
        return max(self.tree.open_bound, self.tree.closed_bound)

    @property
    def tolerance(self) -> float:
        """Half the gap that counts as closed, as it is relative to the bound there."""
        value = self.incumbent.value
        if not np.isfinite(value):
            return 0.0
        return 0.5 * allowed_gap(self.settings.gap_tolerance, value, self.scores.scale)

    @property
    def cutoff(self) -> float:
        """Subproblems bounded by this need not be processed."""
        return self.incumbent.value + self.tolerance

    @property
    def value(self) -> float:
        return self.incumbent.value

    @property
    def assignment(self) -> NDArray[np.int8] | None:
        """The best answer ``[N]``, if there is one."""
        return self.incumbent.assignment

    @property
    def iterations(self) -> int:
        return self.nodes

    def proof(self) -> Any:
        """The proof of the bound."""
        return self.core_proof if self.core_bound < self._tree_bound else self.tree.proof()

    def finished(self) -> bool:
        """Whether no open subproblem can hold a better answer."""
        return min(self.tree.open_bound, self.core_bound) <= self.cutoff

    # ------------------------------------------------------------ the loop

    def go_on(self, until: float = np.inf) -> None:
        """Search until the end, a limit, or until so much is ``done`` in all."""
        self.until = until
        try:
            self.run()
            if self.finished() or not len(self.tree) or self.done < until:
                self.message = why_it_stopped(self)
        except KeyboardInterrupt:
            self.message = INTERRUPTED
        except MemoryError:
            self.message = OUT_OF_MEMORY

    def result(self) -> Result:
        """The best so far, for the graph as written."""
        return conclude(self, self.message)

    def run(self) -> None:
        """Process open nodes until none is left or a limit is reached."""
        node: BoundedNode | None = None
        try:
            while len(self.tree) and not self.finished() and not self._over():
                node = self.tree.take()
                while node is not None and not self._over():
                    node = self._process(node)
                    if self._core_is_due() and self._core_decides():
                        break
                if node is not None:
                    self.tree.add(node)
                    node = None
        except BaseException:
            self.tree.recount()
            raise

    def _over(self) -> bool:
        out_of_time = time.perf_counter() >= self.deadline and self.nodes > 0
        enough = self.nodes >= self.settings.max_nodes or self.done >= self.until
        return out_of_time or enough or self.called_off

    def _process(self, node: BoundedNode) -> BoundedNode | None:
        """Close a node, or branch; returns the node to go on with."""
        if node.bound <= self.cutoff and node.proof is not None:
            self.tree.close(node, node.proof, node.bound)
            return None
        known = self.closure.extend(node.known, node.literals)
        self.nodes += 1
        self.done += 1.0
        start = node.start
        while known is not None:
            sub = Subproblem(self.closure.compile(known), self.scores)
            first = self.root is None
            try:
                self._bound(sub, node, start, first)
            finally:  # an interrupt leaves the bound so far
                self._note(node, sub)
            self._show(node, sub)
            if self._is_closed(node, sub):
                return None
            losses = sub.losses()
            more = self._fix(node, sub, losses)
            if more is not None and self._few(known, more, sub):
                return self._branch(node, sub, losses, more)
            known, start = more, sub.start()
        self.tree.close(node, Refuted(), -np.inf)
        return None

    def _bound(self, sub: Subproblem, node: BoundedNode, start: Start | None, first: bool) -> None:
        bound_subproblem(sub, self.solver, start, self.cutoff, self.deadline, self._probe, first)
        self._round(sub, node)
        if first:
            self._bound_again(sub)

    def _note(self, node: BoundedNode, sub: Subproblem) -> None:
        """Keep what is known of a subproblem."""
        self.done += sub.iterations
        if sub.dual is None or sub.marginals is None:
            return
        self.root = self.root or sub
        if sub.bound <= node.bound:
            node.proof, node.bound = sub.leaf(), sub.bound

    def _bound_again(self, sub: Subproblem) -> None:
        """Let the second solver bound the root; if it is clearly better, it has all."""
        second, first = self.settings.second, sub.bound
        if second is None or sub.impossible or first <= self.cutoff or self._over():
            return
        if sub.problem.n_links > SECOND_LINKS:
            return
        halfway = 0.5 * (self.deadline + time.perf_counter())
        try:
            bound_subproblem(sub, second, None, self.cutoff, halfway, self._probe, True)
        except (ModelError, ImportError):  # it cannot state the model, or lacks HiGHS
            return
        if sub.bound <= self.cutoff or sub.bound - self.cutoff < BETTER * (first - self.cutoff):
            self.solver = second
        self._round(sub, self.tree.root)

    def _few(self, known: Known, more: Known, sub: Subproblem) -> bool:
        """Whether too few values were fixed to bound the subproblem again."""
        fixed = int(((more != -1) & (known == -1)).sum())
        return fixed < max(1.0, WORTH_COMPILING * sub.problem.n) or self._over()

    def _probe(self, sub: Subproblem) -> float:
        """Between iterations: the marginals may be an answer as they are."""
        assert sub.marginals is not None
        self._offer(sub, as_they_are(sub.marginals))
        return self.cutoff

    def _offer(self, sub: Subproblem, x: NDArray[np.int8]) -> None:
        """Offer an assignment ``[n]`` of a subproblem, rechecked on the graph if it is better."""
        from assent.kernels.core import evaluate

        best = self.incumbent
        broken = evaluate.count_violated(sub.problem, sub.scores, x)
        value = -np.inf if broken else evaluate.value(sub.problem, sub.scores, x)
        if broken == 0:
            if best.assignment is None or schedule.is_better(value, best.value):
                self.offer(sub.compiled.full(x))
        elif broken < best.violations:
            best.offer(sub.compiled.full(x), -np.inf, broken)

    def offer(self, assignment: NDArray[np.int8]) -> None:
        """Take an answer ``[N]`` from elsewhere."""
        check = certify.check_assignment(self.compiled, self.scores, assignment)
        self.incumbent.offer(assignment, check.value, check.n_violated)

    def _round(self, sub: Subproblem, node: Node) -> None:
        """Round marginals, perturbed ones as well at the root; not all the time."""
        began = time.perf_counter()
        thorough = node.depth == 0 and began < self.deadline
        spare = self.rounding_seconds <= ROUNDING_SHARE * (began - self.started)
        due = node.depth == 0 or due_at_node(self.nodes)
        if not due or not (thorough or spare) or sub.bound <= self.cutoff:
            return
        if not sub.problem.n_links or sub.marginals is None:
            return
        rounder = Rounder(sub.problem, sub.scores, self.random_state)
        self._offer(sub, rounder.round(sub.marginals, thorough)[0])
        for _ in range(schedule.PERTURBED_TRIES if thorough else 1):
            self._offer(sub, rounder.round(rounder.perturbed(sub.marginals))[0])
        self.random_state = rounder.random_state
        self.rounding_seconds += time.perf_counter() - began

    def _show(self, node: BoundedNode, sub: Subproblem) -> None:
        """Report where the search stands; the bound of the tree is without the node taken."""
        own = min(node.bound, sub.bound)
        bound = max(self.bound, own) if len(self.trace) else own
        report = Progress(
            iteration=self.nodes,
            seconds=solving_seconds(self.started),
            bound=sub.bound,
            best_bound=max(bound, self.incumbent.value),
            value=self.incumbent.value,
            penalty=sub.penalty,
        )
        self.called_off = self.report(self.trace.add(report)) is True

    # ------------------------------------------------------------ ends of a node

    def _is_closed(self, node: BoundedNode, sub: Subproblem) -> bool:
        if sub.bound <= self.cutoff or sub.impossible:
            self.tree.close(node, sub.leaf(), sub.bound)
            return True
        if sub.problem.n_links:
            return False
        # All is decided, and it was no answer: some structure cannot be.
        self.tree.close(node, sub.leaf(), -np.inf)
        return True

    def _core_is_due(self) -> bool:
        return self.nodes >= self.core_at and time.perf_counter() - self.started >= CORE_SECONDS

    def _core_decides(self) -> bool:
        """Ask another solver about all that is left at the root; whether that ends the search.

        It may take as long as everything so far, and is asked again after twice as many nodes.
        """
        self.core_at = 2 * self.nodes
        root = self.root
        if root is None or root.impossible or root.problem.n_links > self.settings.core:
            return False
        if not has_highs():  # no other solver to ask
            return False
        literals, worst = self._literals(root, root.losses())
        known = self.closure.extend(root.known, literals)
        if known is None:
            return False
        sub = Subproblem(self.closure.compile(known), self.scores)
        now = time.perf_counter()
        limit = min(self.deadline - now, max(1.0, now - self.started))
        found = search_core(sub.problem, sub.scores, limit, 0.5 * self.settings.gap_tolerance)
        if found is None:
            self.core_at = self.settings.max_nodes
            return False
        if found.assignment is not None:
            self._offer(sub, found.assignment)
        bound = max(found.bound, worst)
        if bound < self.core_bound:
            word = Trusted("HiGHS", found.bound)
            self.core_proof = Fixed(root.leaf(), literals, word) if literals else word
            self.core_bound = bound
        return self.finished()

    # ------------------------------------------------------------ branching

    def _fix(self, node: BoundedNode, sub: Subproblem, losses: Float | None) -> Known | None:
        """What is known once all values are fixed whose opposite is no better than the answer."""
        literals, worst = self._literals(sub, losses)
        if not literals:
            return sub.known
        self.tree.closed_bound = max(self.tree.closed_bound, worst)
        node.fixed.append((sub.leaf(), literals))
        return self.closure.extend(sub.known, literals)

    def _literals(self, sub: Subproblem, losses: Float | None) -> tuple[tuple[int, ...], float]:
        """Literals whose opposite is no better than the answer, and the largest such bound."""
        if losses is None or self.incumbent.value == -np.inf:
            return (), -np.inf
        rest = sub.bound - losses
        no = rest <= self.cutoff
        column, value = np.nonzero(no)
        coordinate = sub.compiled.free[column]
        literals = np.where(value == 0, coordinate, ~coordinate)
        return tuple(literals.tolist()), float(rest[no].max(initial=-np.inf))

    def _branch(
        self, node: BoundedNode, sub: Subproblem, losses: Float | None, known: Known
    ) -> BoundedNode:
        """Two nodes by the value of one coordinate; the likelier one is next."""
        assert sub.marginals is not None
        column = choose(sub, losses, known)
        place = int(sub.compiled.free[column])
        start, leaf = sub.start(), sub.leaf()
        lost = np.zeros(2) if losses is None else losses[column]

        def child(literal: int, loss: float) -> BoundedNode:
            bound, proof = sub.bound - float(loss), leaf
            if node.bound < bound:  # bounded again with more values known, but not for as long
                bound, proof = node.bound, node.proof
            return BoundedNode(
                literals=(literal,), known=known, bound=bound, start=start, proof=proof,
                depth=node.depth + 1,
            )  # fmt: skip

        children = child(~place, lost[0]), child(place, lost[1])
        return self.tree.branch(node, children, int(sub.marginals[column] > 0.5))


def choose(sub: Subproblem, losses: Float | None, known: Known) -> int:
    """The column to branch on: disputed, and costly either way."""
    assert sub.marginals is not None
    open_ = known[sub.compiled.free] == -1
    dispute = np.minimum(sub.marginals, 1.0 - sub.marginals)
    if losses is None:
        weight = dispute * np.maximum(sub.problem.degree, 1)
    else:
        low = np.minimum(losses.min(axis=1), 1e300)
        scale = float(low[open_].max(initial=0.0)) or 1.0
        weight = np.maximum(low / scale, 1e-3) * np.maximum(dispute, DECIDED)
    weight = np.where(open_ & (sub.problem.degree > 0), weight, -1.0)
    return int(weight.argmax())


def why_it_stopped(search: BestFirstSearch) -> str:
    """Why a search ended without a proof."""
    if search.called_off:
        return CALLED_OFF
    if search.finished():
        return ROUNDING_ONLY
    return NODE_LIMIT if search.nodes >= search.settings.max_nodes else TIME_LIMIT


def conclude(
    search: BestFirstSearch,
    reason: str | None = None,
    whole: BestFirstSearch | Partition | None = None,
    others: Others | None = None,
) -> Result:
    """Restate where a search ended for the written graph.

    The bound is that of the ``whole`` the search is part of, ``others`` are answers given before.
    """
    whole = whole or search
    best, compiled, bound = search.incumbent, search.compiled, whole.bound
    fallback = np.maximum(compiled.fixed, 0)
    return Outcome(
        compiled=compiled,
        scores=search.scores,
        assignment=fallback if best.best is None else best.best,
        bound=bound,
        dual=_root_dual(search),
        proof=whole.proof() if bound < np.inf else None,
        others=others,
        gap_tolerance=search.settings.gap_tolerance,
        message=reason or why_it_stopped(search),
        trace=search.trace,
        iterations=search.nodes,
        seconds=solving_seconds(search.started),
        consensus=_consensus(search),
        penalty=np.nan if search.root is None else search.root.penalty,
    ).result()


def _root_dual(search: BestFirstSearch) -> DualPoint | None:
    """The root's dual point, for warm starts."""
    root = search.root
    if root is None or root.impossible or root.dual is None:
        return None
    links = root.compiled.graph_dual(root.dual, search.scores)
    return search.compiled.flat_dual(links, search.scores)


def _consensus(search: BestFirstSearch) -> Any:
    """The root's marginals ``[N]``."""
    root, fixed = search.root, search.compiled.fixed
    if root is None or root.marginals is None:
        return np.where(fixed == -1, 0.5, fixed)
    return root.compiled.full(np.clip(root.marginals, 0.0, 1.0))
