/**
 * A live answer: the sum of all notifications, as a multiset of rows.
 *
 *     rows after a notification = rows before + addedResults - removedResults
 */

import { type Row, rowKey } from "./terms.js";

/** A row, and how many times the answer has it. */
export interface Entry {
  readonly key: string;
  readonly row: Row;
  count: number;
}

/** The rows that are new in the answer, and those that left it; a row that only changed its count is in neither. */
export interface Folded {
  readonly added: readonly Entry[];
  readonly removed: readonly Entry[];
}

export class Rows {
  readonly variables: readonly string[];
  private readonly entries = new Map<string, Entry>();
  private total = 0;

  constructor(variables: readonly string[]) {
    this.variables = variables;
  }

  /** Rows, each as many times as the answer has it. */
  get size(): number {
    return this.total;
  }

  /** The rows in the order in which they came, each once. */
  values(): IterableIterator<Entry> {
    return this.entries.values();
  }

  fold(added: readonly Row[], removed: readonly Row[]): Folded {
    const touched = new Map<string, number>();
    for (const row of removed) this.change(row, -1, touched);
    for (const row of added) this.change(row, 1, touched);
    const came: Entry[] = [];
    const left: Entry[] = [];
    for (const [key, before] of touched) {
      const entry = this.entries.get(key);
      if (entry === undefined) continue;
      if (entry.count <= 0) {
        this.entries.delete(key);
        if (before > 0) left.push(entry);
      } else if (before <= 0) came.push(entry);
    }
    return { added: came, removed: left };
  }

  private change(row: Row, weight: number, touched: Map<string, number>): void {
    const key = rowKey(row, this.variables);
    let entry = this.entries.get(key);
    if (entry === undefined) {
      entry = { key, row, count: 0 };
      this.entries.set(key, entry);
    }
    if (!touched.has(key)) touched.set(key, entry.count);
    entry.count += weight;
    this.total += weight;
  }
}
