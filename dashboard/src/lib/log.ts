/** A range of commits of the log, and their net delta. */

import { broker } from "./broker.svelte";
import type { Quad } from "./update.svelte";

interface Line extends Quad {
  readonly seq: number;
  readonly time: number;
  readonly op: "add" | "remove" | "none";
  readonly by?: string;
}

export interface Commit {
  readonly number: number;
  readonly time: number;
  readonly by: string;
  readonly added: number;
  readonly removed: number;
}

export interface Stretch {
  readonly commits: readonly Commit[];
  readonly add: readonly Quad[];
  readonly remove: readonly Quad[];
}

export const LONGEST = 2000;

/** The commits after `from`, up to and including `to`; of many, only the last ones. */
export async function stretch(from: number, to: number, signal: AbortSignal): Promise<Stretch> {
  if (to <= from) return { commits: [], add: [], remove: [] };
  const begin = Math.max(from, to - LONGEST);
  const response = await broker.client.http.send(`log?from=${begin + 1}&limit=${to - begin}`, { headers: { Accept: "application/x-ndjson" }, signal });
  const lines = (await response.text()).split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Line);
  return { commits: commitsOf(lines), ...net(lines) };
}

function commitsOf(lines: readonly Line[]): Commit[] {
  const commits = new Map<number, Commit>();
  for (const { seq, time, by = "", op } of lines) {
    const before = commits.get(seq) ?? { number: seq, time, by, added: 0, removed: 0 };
    commits.set(seq, { ...before, added: before.added + (op === "add" ? 1 : 0), removed: before.removed + (op === "remove" ? 1 : 0) });
  }
  return [...commits.values()].reverse();
}

/** The sum of deltas: a quad that was added and removed again is not in it. */
function net(lines: readonly Line[]): { add: Quad[]; remove: Quad[] } {
  const weights = new Map<string, { readonly quad: Quad; weight: number }>();
  for (const { s, p, o, g, op } of lines) {
    if (op === "none") continue;
    const key = `${s} ${p} ${o} ${g}`;
    const entry = weights.get(key) ?? { quad: { s, p, o, g }, weight: 0 };
    entry.weight += op === "add" ? 1 : -1;
    weights.set(key, entry);
  }
  const all = [...weights.values()];
  return { add: all.filter(({ weight }) => weight > 0).map(({ quad }) => quad), remove: all.filter(({ weight }) => weight < 0).map(({ quad }) => quad) };
}
