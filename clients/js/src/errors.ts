/** The errors of a broker, with their stable codes, and the error for a broker that cannot be reached. */

export interface ErrorEnvelope {
  readonly error: string;
  readonly status_code: number;
  readonly error_description: string;
  readonly alias?: string;
  readonly spuid?: string;
  readonly line?: number;
  readonly column?: number;
  readonly expected?: string;
  /** The first commit that the log still has. */
  readonly oldest?: number;
}

export class BrokerError extends Error {
  override readonly name = "BrokerError";

  constructor(readonly envelope: ErrorEnvelope) {
    super(envelope.error_description);
  }

  /** The stable code: `sparql_syntax_error`. */
  get code(): string {
    return this.envelope.error;
  }

  get status(): number {
    return this.envelope.status_code;
  }

  /** The place of a syntax error in the text: line and column, from 1. */
  get place(): { readonly line: number; readonly column: number } | null {
    const { line, column } = this.envelope;
    return line === undefined || column === undefined ? null : { line, column };
  }

  /** Whether the user has to log in, or to log in again. */
  get wantsToken(): boolean {
    return this.status === 401;
  }
}

/** There is no answer: the broker does not run, or the network is down. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

export function isEnvelope(value: unknown): value is ErrorEnvelope {
  return typeof value === "object" && value !== null && "error" in value && "status_code" in value;
}

/** The error in an HTTP answer, even if a proxy between client and broker has answered. */
export function refusal(status: number, text: string): BrokerError {
  try {
    const content: unknown = JSON.parse(text);
    if (isEnvelope(content)) return new BrokerError(content);
  } catch {
    // not JSON, so not from the broker: the text itself becomes the message below
  }
  return new BrokerError({ error: "http_error", status_code: status, error_description: text.slice(0, 500) || `status ${status}` });
}
