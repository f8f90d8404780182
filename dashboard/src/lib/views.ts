/** The ways in which an answer can be looked at, and which of them fit it. */

import type { Shown } from "./answer.svelte";

export type ViewName = "table" | "heard" | "plan" | "connect";

export interface View {
  readonly name: ViewName;
  readonly label: string;
}

export const VIEWS: readonly View[] = [
  { name: "table", label: "Table" },
  { name: "heard", label: "Notifications" },
  { name: "plan", label: "Plan" },
  { name: "connect", label: "Connect" },
];

interface Looked {
  readonly live: boolean;
  readonly variables: readonly string[];
  readonly rows: readonly Shown[];
}

export function fitting(view: ViewName, { live }: Looked): boolean {
  switch (view) {
    case "table":
    case "connect":
      return true;
    case "heard":
    case "plan":
      return live;
  }
}
