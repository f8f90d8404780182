/** The broker that served this page: one client for all pages, the user, and the state of the connection. */

import { BrokerError, type ConnectionState, Tidings } from "tidings-client";

const ADDRESS = new URL("./", window.location.href).href;
const EARLY = 60; // seconds before a token expires at which another one is asked for

interface Login {
  readonly id: string;
  readonly secret: string;
}

interface TokenAnswer {
  readonly access_token: string;
  readonly expires_in: number;
}

class Broker {
  connection = $state<ConnectionState>("closed");
  /** The user. Token and secret are only in memory: a reload forgets them. */
  identity = $state<string | null>(null);
  /** Whether the broker has required a login. */
  asks = $state(false);

  readonly client = new Tidings(ADDRESS, {
    token: () => this.token,
    connection: (state) => (this.connection = state),
  });

  private token: string | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    window.addEventListener("online", () => this.client.connection.hurry());
  }

  get address(): string {
    return ADDRESS.replace(/\/$/, "");
  }

  /** Log in. Throws BrokerError if the credentials are wrong. */
  async login(login: Login): Promise<void> {
    const response = await fetch(new URL("oauth/token", ADDRESS), {
      method: "POST",
      headers: { Authorization: `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${login.id}:${login.secret}`)))}` },
    });
    if (!response.ok) throw await refused(response);
    const { access_token, expires_in } = (await response.json()) as TokenAnswer;
    this.token = access_token;
    this.identity = login.id;
    this.asks = true;
    await this.client.connection.renew();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.login(login).catch(() => this.logout()), Math.max(5, expires_in - EARLY) * 1000);
  }

  /** Log in with a token from elsewhere. */
  async show(token: string): Promise<void> {
    this.token = token;
    this.identity = "token";
    await this.client.connection.renew();
  }

  logout(): void {
    clearTimeout(this.timer);
    this.token = null;
    this.identity = null;
    this.client.connection.close();
  }

  /** For requests that do not go through the client. */
  currentToken(): string | null {
    return this.token;
  }

  /** Note from an error that this broker requires a login. */
  heed(error: unknown): void {
    if (error instanceof BrokerError && error.wantsToken) this.asks = true;
  }

  async json<T>(path: string, init?: RequestInit): Promise<T> {
    try {
      return await this.client.http.json<T>(path, init);
    } catch (error) {
      this.heed(error);
      throw error;
    }
  }
}

async function refused(response: Response): Promise<BrokerError> {
  const content = (await response.json().catch(() => ({}))) as { readonly error?: string; readonly error_description?: string };
  return new BrokerError({
    error: content.error ?? "http_error",
    status_code: response.status,
    error_description: content.error_description ?? `status ${response.status}`,
  });
}

export const broker = new Broker();

/** The message for the user about an error. */
export function told(error: unknown): string {
  if (error instanceof BrokerError && error.wantsToken && !broker.identity) return "This broker asks everybody who they are. Log in first.";
  return error instanceof Error ? error.message : String(error);
}
