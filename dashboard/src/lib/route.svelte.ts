/** The page and its parameters in the address: `#/query?query=…`. The browser does not send the part after the hash. */

export const PAGES = ["home", "query", "update", "explore", "history", "operations"] as const;
export type PageName = (typeof PAGES)[number];

class Location {
  page = $state<PageName>("home");
  parameters = $state.raw(new URLSearchParams());

  constructor() {
    this.read();
    window.addEventListener("hashchange", () => this.read());
  }

  /** Go to another page, with a new entry in the browser's history. */
  go(page: PageName, parameters: Readonly<Record<string, string>> = {}): void {
    window.location.hash = link(page, parameters);
  }

  /** Change the parameters of the page, without a new entry. */
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
