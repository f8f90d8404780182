/** The plan of a subscription, as the broker explains it. */

export interface PlanNode {
  readonly operator: string;
  readonly detail: string;
  readonly incremental: boolean;
  readonly inputs: readonly PlanNode[];
}

export interface Explained {
  readonly incremental: boolean;
  readonly parameters: readonly string[];
  readonly shared: { readonly members: number; readonly subscribers: number };
  readonly warnings: readonly string[];
  readonly routes: readonly { readonly pattern: readonly string[]; readonly graph: string }[];
  readonly plan: PlanNode;
}

/** The seconds that a plan has taken, on the event loop and in forks. Subscriptions that share a plan share them. */
export interface Cost {
  readonly seconds: number;
  readonly aside: number;
  readonly subscribers: number;
}

export interface SubscriptionInfo {
  readonly spuid: string;
  readonly alias: string | null;
  readonly sparql: string;
  readonly sequence: number;
  readonly connected: boolean;
  readonly incremental: boolean;
  /** Null if a job on Spark works out the answer. */
  readonly cost: Cost | null;
  readonly away?: number;
  readonly "default-graph-uri": readonly string[];
}
