/** The views of an answer, and which of them suit it. */

import type { Shown } from "./answer.svelte";
import { instantOf, isNumeric, numberOf } from "./values";

export type ViewName = "table" | "chart" | "map" | "graph" | "heard" | "plan" | "connect";

export interface View {
  readonly name: ViewName;
  readonly label: string;
}

export const VIEWS: readonly View[] = [
  { name: "table", label: "Table" },
  { name: "chart", label: "Chart" },
  { name: "map", label: "Map" },
  { name: "graph", label: "Graph" },
  { name: "heard", label: "Notifications" },
  { name: "plan", label: "Plan" },
  { name: "connect", label: "Connect" },
];

interface Looked {
  readonly live: boolean;
  readonly variables: readonly string[];
  readonly rows: readonly Shown[];
}

export function fitting(view: ViewName, { live, variables, rows }: Looked): boolean {
  switch (view) {
    case "table":
    case "connect":
      return true;
    case "heard":
    case "plan":
      return live;
    case "chart":
      return chartOf(variables, rows) !== null;
    case "map":
      return mapOf(variables, rows) !== null;
    case "graph":
      return linksOf(variables, rows) !== null;
  }
}

export interface ChartColumns {
  readonly x: string;
  /** the columns that name a bar */
  readonly names: readonly string[];
  readonly ys: readonly string[];
  /** by the instant, by a number, or a bar for each row */
  readonly kind: "time" | "number" | "bars";
}

/** The columns of a chart: one for the x axis, and columns of numbers. */
export function chartOf(variables: readonly string[], rows: readonly Shown[]): ChartColumns | null {
  const first = rows[0]?.row;
  if (first === undefined || variables.length < 2) return null;
  const time = variables.find((name) => instantOf(first[name]) !== null);
  const numbers = variables.filter((name) => isNumeric(first[name]));
  if (time !== undefined && numbers.length > 0) return { x: time, names: [], ys: numbers.slice(0, 4), kind: "time" };
  const names = variables.filter((name) => !isNumeric(first[name]));
  if (names[0] !== undefined && numbers.length > 0) return { x: names[0], names, ys: numbers.slice(0, 1), kind: "bars" };
  const [x, ...ys] = numbers;
  return x !== undefined && ys.length > 0 ? { x, names: [], ys: ys.slice(0, 4), kind: "number" } : null;
}

export interface MapColumns {
  readonly latitude: string | null;
  readonly longitude: string | null;
  /** a column of texts such as `POINT(11 44)` or `LINESTRING(…)` */
  readonly shape: string | null;
}

const WKT = /^(?:<[^>]*>\s*)?(POINT|LINESTRING)\s*\(/i;

export function mapOf(variables: readonly string[], rows: readonly Shown[]): MapColumns | null {
  const first = rows[0]?.row;
  if (first === undefined) return null;
  const shape = variables.find((name) => WKT.test(first[name]?.value ?? "")) ?? null;
  const named = (pattern: RegExp): string | null => variables.find((name) => pattern.test(name) && numberOf(first[name]) !== null) ?? null;
  const [latitude, longitude] = [named(/^lat/i), named(/^(lon|lng)/i)];
  return shape !== null || (latitude !== null && longitude !== null) ? { latitude, longitude, shape } : null;
}

export interface LinkColumns {
  readonly from: string;
  readonly to: string;
  readonly label: string | null;
}

const LINKING = /^(p|prop|pred|link|rel|edge|via|verb)/i;

/** The columns of a graph: two for nodes, and one for the link between them, if a column has such a name. */
export function linksOf(variables: readonly string[], rows: readonly Shown[]): LinkColumns | null {
  const first = rows[0]?.row;
  if (first === undefined) return null;
  if (["subject", "predicate", "object"].every((name) => variables.includes(name))) return { from: "subject", to: "object", label: "predicate" };
  const things = variables.filter((name) => first[name]?.type === "uri" || first[name]?.type === "bnode");
  const label = things.length > 2 ? (things.find((name, at) => at > 0 && LINKING.test(name)) ?? null) : null;
  const [from, to] = things.filter((name) => name !== label);
  return from === undefined || to === undefined ? null : { from, to, label };
}

/** Points of a text, as longitude and latitude. */
export function pointsOf(text: string): readonly (readonly [number, number])[] {
  const inside = /\(([^()]*)\)/.exec(text)?.[1] ?? "";
  const points = inside.split(",").map((pair) => pair.trim().split(/\s+/).map(Number));
  return points.flatMap(([x = NaN, y = NaN]) => (Number.isFinite(x) && Number.isFinite(y) ? [[x, y] as const] : []));
}

