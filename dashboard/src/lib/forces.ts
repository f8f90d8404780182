/** Force-directed layout: nodes repel each other, and links attract their ends (Fruchterman and Reingold, 1991). */

export interface Node {
  readonly key: string;
  readonly label: string;
  readonly iri: string | null;
  x: number;
  y: number;
  weight: number;
}

export interface Link {
  readonly from: Node;
  readonly to: Node;
  readonly label: string;
}

const IDEAL = 85; // from node to node
const GRAVITY = 0.12; // towards the middle, so that parts without links between them stay visible

/** One step; `heat` is how far a node may move. */
export function settle(nodes: readonly Node[], links: readonly Link[], heat: number): void {
  const moves = new Map(nodes.map((node) => [node, { x: -node.x * GRAVITY, y: -node.y * GRAVITY }]));
  const push = (node: Node, x: number, y: number): void => {
    const move = moves.get(node);
    if (move) [move.x, move.y] = [move.x + x, move.y + y];
  };
  for (const [index, a] of nodes.entries()) {
    for (let other = index + 1; other < nodes.length; other += 1) {
      const b = nodes[other];
      if (b === undefined) continue;
      const [x, y] = [a.x - b.x || 0.1, a.y - b.y || 0.1];
      const force = (IDEAL * IDEAL) / Math.max(25, x * x + y * y);
      push(a, x * force, y * force);
      push(b, -x * force, -y * force);
    }
  }
  for (const { from, to } of links) {
    const [x, y] = [to.x - from.x, to.y - from.y];
    const force = Math.hypot(x, y) / IDEAL / 2;
    push(from, x * force, y * force);
    push(to, -x * force, -y * force);
  }
  for (const [node, { x, y }] of moves) {
    const length = Math.hypot(x, y) || 1;
    node.x += (x / length) * Math.min(length, heat);
    node.y += (y / length) * Math.min(length, heat);
  }
}
