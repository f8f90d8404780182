/**
 * An answer on the screen. All changes between two frames are drawn together. Removed rows stay for a moment to fade, and
 * a new row with the same first column as a removed one takes its place on the screen.
 */

import { type Change, type Entry, type Row, Rows, termKey } from "tidings-client";

import { sorted as inSequence } from "./values";

export const FADE = 700; // milliseconds that a row takes to leave
export const FLASH = 1600; // milliseconds that a row is marked as new
const LARGE = 20_000; // rows beyond which sorting again waits
const PAUSE = 1000; // milliseconds from one sorting of so many to the next

export interface Shown {
  key: string;
  row: Row;
  count: number;
  arrived: number;
  leaving: number;
  changed: boolean;
}

export interface Figures {
  readonly rows: number;
  readonly commit: number | null;
  readonly sequence: number | null;
  /** Milliseconds from the commit to this page, by the clocks of both. */
  readonly latency: number | null;
  readonly notifications: number;
  readonly added: number;
  readonly removed: number;
}

export interface Heard {
  readonly sequence: number;
  readonly commit: number;
  readonly time: number;
  readonly added: number;
  readonly removed: number;
  readonly note: string;
}

const NOTHING: Figures = { rows: 0, commit: null, sequence: null, latency: null, notifications: 0, added: 0, removed: 0 };
const MOST_HEARD = 200;

export class Answer {
  variables = $state.raw<readonly string[]>([]);
  figures = $state.raw<Figures>(NOTHING);
  heard = $state.raw<readonly Heard[]>([]);
  /** Incremented whenever `rows` changes; the array itself is too large for Svelte to watch. */
  version = $state(0);
  sorted = $state.raw<{ readonly variable: string; readonly descending: boolean } | null>(null);
  rows: Shown[] = [];

  private shown: Shown[] = [];
  private byKey = new Map<string, Shown>();
  private queue: Change[] = [];
  private scheduled = false;
  private sortedAt = -Infinity;
  private sortsLater = false;

  /** A whole answer that will not change. */
  show(variables: readonly string[], rows: readonly Row[]): void {
    this.variables = variables;
    this.shown = rows.map((row, index) => ({ key: String(index), row, count: 1, arrived: 0, leaving: 0, changed: false }));
    this.figures = { ...NOTHING, rows: rows.length };
    this.publish();
  }

  /** Replace the answer by that of the same query at another time: differences flash or fade, in the new order. */
  turn(variables: readonly string[], rows: readonly Row[]): void {
    const known = variables.join() === this.variables.join();
    if (!known) {
      this.variables = variables;
      this.shown = [];
      this.byKey.clear();
    }
    const next = new Rows(variables);
    next.fold(rows, []);
    const entries = new Map([...next.values()].map((entry) => [entry.key, entry]));
    const before = this.shown.filter((each) => each.leaving === 0);
    const left = before.filter(({ key }) => !entries.has(key));
    const came = [...entries.values()].filter(({ key }) => !this.byKey.has(key));
    const now = performance.now();
    const vacated = this.vacate(left, now);
    for (const entry of came) this.enter(entry, known ? now : 0, vacated);
    this.shown = inOrder([...entries.keys()].flatMap((key) => this.byKey.get(key) ?? []), before);
    this.figures = { ...NOTHING, rows: rows.length, added: known ? came.length : 0, removed: left.length };
    this.publish();
    if (left.length) setTimeout(() => this.compact(), FADE + 50);
  }

  take(change: Change): void {
    this.queue.push(change);
    if (this.scheduled) return;
    this.scheduled = true;
    if (document.hidden) setTimeout(() => this.flush(), 500);
    else requestAnimationFrame(() => this.flush());
  }

  sortBy(variable: string): void {
    const { sorted } = this;
    if (sorted?.variable !== variable) this.sorted = { variable, descending: false };
    else this.sorted = sorted.descending ? null : { variable, descending: true };
    this.sortedAt = -Infinity;
    this.publish();
  }

  private flush(): void {
    this.scheduled = false;
    const changes = this.queue;
    this.queue = [];
    const now = performance.now();
    for (const change of changes) this.apply(change, now);
    this.report(changes);
    this.publish();
    if (this.shown.some((each) => each.leaving > 0)) setTimeout(() => this.compact(), FADE + 50);
  }

  private apply(change: Change, now: number): void {
    const quiet = change.whole;
    if (change.whole) {
      this.variables = change.notification.addedResults.head.vars ?? [];
      this.shown = [];
      this.byKey.clear();
    }
    const vacated = this.vacate(change.removed, now);
    for (const entry of change.added) this.enter(entry, quiet ? 0 : now, vacated);
  }

  /** The rows that are fading out, by their first column: new rows may take their places. */
  private vacate(removed: readonly Entry[], now: number): Map<string, Shown> {
    const places = new Map<string, Shown>();
    const first = this.variables[0] ?? "";
    for (const entry of removed) {
      const shown = this.byKey.get(entry.key);
      if (shown === undefined) continue;
      shown.leaving = now;
      this.byKey.delete(entry.key);
      places.set(termKey(shown.row[first]), shown);
    }
    return places;
  }

  private enter(entry: Entry, now: number, vacated: Map<string, Shown>): void {
    const place = this.variables.length > 1 ? termKey(entry.row[this.variables[0] ?? ""]) : null;
    const free = place === null ? undefined : vacated.get(place);
    if (free !== undefined && place !== null) {
      vacated.delete(place);
      Object.assign(free, { key: entry.key, row: entry.row, count: entry.count, arrived: now, leaving: 0, changed: true });
      this.byKey.set(entry.key, free);
      return;
    }
    const shown: Shown = { key: entry.key, row: entry.row, count: entry.count, arrived: now, leaving: 0, changed: false };
    this.shown.push(shown);
    this.byKey.set(entry.key, shown);
  }

  private report(changes: readonly Change[]): void {
    const last = changes.at(-1)?.notification;
    if (last === undefined) return;
    const news = changes.filter((change) => !change.whole);
    const { figures } = this;
    this.figures = {
      rows: this.byKey.size,
      commit: last.commit,
      sequence: last.sequence,
      latency: news.length ? Math.max(0, Date.now() - last.time / 1000) : figures.latency,
      notifications: figures.notifications + changes.length,
      added: figures.added + news.reduce((sum, change) => sum + change.added.length, 0),
      removed: figures.removed + news.reduce((sum, change) => sum + change.removed.length, 0),
    };
    this.heard = [...changes.map(heardOf).reverse(), ...this.heard].slice(0, MOST_HEARD);
  }

  private compact(): void {
    const limit = performance.now() - FADE;
    this.shown = this.shown.filter((each) => each.leaving === 0 || each.leaving > limit);
    this.publish();
  }

  private publish(): void {
    const { sorted, shown } = this;
    if (sorted === null) this.rows = shown;
    else {
      const wait = this.sortedAt + (shown.length > LARGE ? PAUSE : 0) - performance.now();
      if (wait <= 0) {
        const { variable, descending } = sorted;
        this.rows = inSequence(shown, (each) => each.row[variable], descending);
        this.sortedAt = performance.now();
      } else this.sortLater(wait);
    }
    this.version += 1;
  }

  /** Sort again after the pause, even if no other change comes. */
  private sortLater(wait: number): void {
    if (this.sortsLater) return;
    this.sortsLater = true;
    setTimeout(() => {
      this.sortsLater = false;
      this.publish();
    }, wait);
  }
}

/** The rows in order, with those that are fading out at their old places. */
function inOrder(rows: readonly Shown[], before: readonly Shown[]): Shown[] {
  const result: Shown[] = [];
  let next = 0;
  before.forEach((each, at) => {
    if (each.leaving === 0) return;
    while (result.length < at && next < rows.length) result.push(...rows.slice(next, (next += 1)));
    result.push(each);
  });
  return [...result, ...rows.slice(next)];
}

function heardOf({ notification, added, removed, whole }: Change): Heard {
  const note = notification.reason ?? (whole ? "the whole answer" : notification.resumed ? "what was missed" : "");
  return { sequence: notification.sequence, commit: notification.commit, time: notification.time, added: added.length, removed: removed.length, note };
}

