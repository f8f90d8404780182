/** The answer to a query after an earlier commit, and its differences from the answer after another commit. */

import { BrokerError, type Row, Rows } from "tidings-client";

import { Answer } from "./answer.svelte";
import { broker, told } from "./broker.svelte";
import { FORMATS, type Found, read } from "./reading";
import type { Fault } from "./tabs.svelte";

const CHANGE = "change";

export class Past {
  text = $state("");
  graph = $state("");
  /** Show only the differences from the earlier commit. */
  only = $state(false);
  busy = $state(false);
  fault = $state.raw<Fault | null>(null);
  /** The first commit that the log still has, if the requested one is before it. */
  oldest = $state<number | null>(null);
  boolean = $state<boolean | null>(null);
  came = $state(0);
  left = $state(0);
  readonly answer = new Answer();
  private asking: AbortController | null = null;

  constructor(text: string, graph: string) {
    this.text = text;
    this.graph = graph;
  }

  /** The answer after commit `to`, compared with that after commit `from`. */
  async look(from: number, to: number): Promise<void> {
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    this.busy = true;
    try {
      const after = this.ask(to, asking.signal);
      const [before, now] = await Promise.all([from === to ? after : this.ask(from, asking.signal), after]);
      if (!asking.signal.aborted) this.show(before, now);
    } catch (error) {
      if (!asking.signal.aborted) this.fail(error);
    } finally {
      if (this.asking === asking) this.busy = false;
    }
  }

  stop(): void {
    this.asking?.abort();
  }

  private async ask(at: number, signal: AbortSignal): Promise<Found> {
    const dataset = this.graph ? { defaultGraphs: [this.graph] } : {};
    return read(await broker.client.http.document(this.text, FORMATS, { ...dataset, at, signal }));
  }

  private show(before: Found, after: Found): void {
    this.fault = null;
    this.oldest = null;
    this.boolean = after.boolean;
    const rows = new Rows(after.variables);
    rows.fold(before.rows, []);
    const { added, removed } = rows.fold(after.rows, before.rows);
    this.came = added.length;
    this.left = removed.length;
    if (!this.only) return this.answer.turn(after.variables, after.rows);
    const marked = (sign: string, row: Row): Row => ({ [CHANGE]: { type: "literal", value: sign }, ...row });
    this.answer.turn(
      [CHANGE, ...after.variables],
      [...removed.map(({ row }) => marked("−", row)), ...added.map(({ row }) => marked("+", row))],
    );
  }

  private fail(error: unknown): void {
    broker.heed(error);
    this.oldest = error instanceof BrokerError ? (error.envelope.oldest ?? null) : null;
    this.fault = { text: told(error), place: error instanceof BrokerError ? error.place : null };
  }
}

/** The same query for the history lake, which has commits that the log no longer has. */
export function lakeCommand(text: string, at: number): string {
  return `tidings history query --lake LAKE --at ${at} '${text.replaceAll("'", `'\\''`)}'`;
}
