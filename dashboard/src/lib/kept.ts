/** The browser's storage between visits: texts of queries and views, never a token. */

export function kept<T>(name: string, otherwise: T): T {
  try {
    const text = window.localStorage.getItem(`tidings.${name}`);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise; // storage is switched off, or has a value of another version
  }
}

export function keep(name: string, value: unknown): void {
  try {
    window.localStorage.setItem(`tidings.${name}`, JSON.stringify(value));
  } catch {
    // storage is full or switched off: the page works without it
  }
}
