/** The queries that were run before, the last one first, without duplicates. */

import { keep, kept } from "./kept";

export interface Past {
  readonly text: string;
  readonly graph: string;
  readonly at: number;
}

const MOST = 60;

export function past(): readonly Past[] {
  return kept<readonly Past[]>("history", []);
}

export function remember(text: string, graph: string): void {
  if (text.trim() === "") return;
  const others = past().filter((each) => each.text !== text || each.graph !== graph);
  keep("history", [{ text, graph, at: Date.now() }, ...others].slice(0, MOST));
}

export function forget(): void {
  keep("history", []);
}
