/** Where one is: `#/query?query=…`. Everything after the hash stays in the browser. */

export const PAGES = ["home", "query", "update", "explore", "history", "operations"] as const;
export type PageName = (typeof PAGES)[number];

class Location {
  page = $state<PageName>("home");
  parameters = $state.raw(new URLSearchParams());

  constructor() {
    this.read();
    window.addEventListener("hashchange", () => this.read());
  }

  /** Another page, as a new step of the browser's history. */
  go(page: PageName, parameters: Readonly<Record<string, string>> = {}): void {
    window.location.hash = link(page, parameters);
  }

  /** The same page with other parameters, without a new step. */
  note(page: PageName, parameters: Readonly<Record<string, string>>): void {
    window.history.replaceState(null, "", link(page, parameters));
  }

  private read(): void {
    const [, path = "", parameters = ""] = /^#?\/?([^?]*)\??(.*)$/s.exec(window.location.hash) ?? [];
    this.page = isPage(path) ? path : "home";
    this.parameters = new URLSearchParams(parameters);
  }
}

function isPage(name: string): name is PageName {
  return (PAGES as readonly string[]).includes(name);
}

export function link(page: PageName, parameters: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(parameters).toString();
  return `#/${page}${text && `?${text}`}`;
}

export const place = new Location();
