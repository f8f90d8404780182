/** Values of terms, for sorting, aligning and drawing; and numbers and times for people. */

import { type Term, XSD } from "tidings-client";

const NUMERIC = new Set(
  "integer decimal double float int long short byte nonNegativeInteger positiveInteger unsignedInt unsignedLong unsignedShort".split(" ").map((name) => XSD + name),
);

export function isNumeric(term: Term | undefined): boolean {
  return term?.type === "literal" && term.datatype !== undefined && NUMERIC.has(term.datatype);
}

/** The number that a literal is or looks like. */
export function numberOf(term: Term | undefined): number | null {
  if (term?.type !== "literal" || term.value.trim() === "") return null;
  const value = Number(term.value);
  return Number.isFinite(value) ? value : null;
}

/** The instant that a literal is, in seconds since 1970. */
export function instantOf(term: Term | undefined): number | null {
  if (term?.type !== "literal" || !/^(dateTime|date)$/.test(term.datatype?.slice(XSD.length) ?? "")) return null;
  const value = Date.parse(term.value);
  return Number.isNaN(value) ? null : value / 1000;
}

const COLLATOR = new Intl.Collator(undefined, { numeric: true });

/** Items by a term of theirs: numbers by size, everything else by its text; what is unbound comes first. Each term is looked at once. */
export function sorted<T>(items: readonly T[], termOf: (item: T) => Term | undefined, descending: boolean): T[] {
  const keyed = items.map((item) => {
    const term = termOf(item);
    return { item, number: numberOf(term), text: term?.value ?? "" };
  });
  const sign = descending ? -1 : 1;
  keyed.sort((a, b) => sign * (a.number !== null && b.number !== null ? a.number - b.number : COLLATOR.compare(a.text, b.text)));
  return keyed.map(({ item }) => item);
}

const WHOLE = new Intl.NumberFormat("en");

export function whole(value: number): string {
  return WHOLE.format(value);
}

export function counted(value: number, one: string, many = `${one}s`): string {
  return `${whole(value)} ${value === 1 ? one : many}`;
}

/** Milliseconds, for people. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return "< 1 ms";
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
}

/** Seconds, for people: the two largest units. */
export function lasting(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24, minutes % 60];
  if (days) return `${days} d ${hours} h`;
  return hours ? `${hours} h ${rest} min` : minutes ? `${rest} min` : `${Math.floor(seconds)} s`;
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let size = value / 1024;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${size.toFixed(size < 10 ? 1 : 0)} ${units[unit] ?? ""}`;
}

/** The day and the time of day, the same wherever one is shown. */
export function instant(at: string | number): string {
  const date = new Date(at);
  return `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" })}, ${date.toLocaleTimeString("en-GB")}`;
}

/** Microseconds since 1970 as the time of day, with the day unless it is today. */
export function daily(microseconds: number): string {
  const at = microseconds / 1000;
  return new Date(at).toDateString() === new Date().toDateString() ? clock(microseconds) : instant(at);
}

/** Microseconds since 1970 as the time of day. */
export function clock(microseconds: number): string {
  return new Date(microseconds / 1000).toLocaleTimeString("en-GB", { hour12: false });
}
