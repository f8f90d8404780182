/** Light, dark, or as the system has it. */

import { keep, kept } from "./kept";

export type Theme = "system" | "light" | "dark";
const NEXT: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };

class Look {
  theme = $state<Theme>(kept<Theme>("theme", "system"));

  constructor() {
    this.apply();
  }

  turn(): void {
    this.theme = NEXT[this.theme];
    keep("theme", this.theme);
    this.apply();
  }

  private apply(): void {
    if (this.theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = this.theme;
  }
}

export const look = new Look();
