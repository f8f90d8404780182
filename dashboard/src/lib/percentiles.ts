/** Percentiles of a Prometheus histogram, over the counts between two samples. */

/** Upper bounds, and how many were at most that large. */
export type Buckets = readonly (readonly [bound: number, count: number])[];

export function bucketsOf(text: string, name: string): Buckets {
  const line = new RegExp(`^${name}_bucket\\{le="([^"]+)"\\} (\\S+)$`, "gm");
  return [...text.matchAll(line)].map(([, bound, count]) => [bound === "+Inf" ? Infinity : Number(bound), Number(count)]);
}

export function since(before: Buckets, now: Buckets): Buckets {
  return now.map(([bound, count], index) => [bound, count - (before[index]?.[1] ?? 0)]);
}

/** Milliseconds; linear within a bucket. Null if nothing was counted. */
export function percentile(buckets: Buckets, part: number): number | null {
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total <= 0) return null;
  let [below, counted] = [0, 0];
  for (const [bound, count] of buckets) {
    if (count >= part * total) {
      if (bound === Infinity) return 1000 * below;
      return 1000 * (below + ((part * total - counted) / Math.max(1e-9, count - counted)) * (bound - below));
    }
    [below, counted] = [bound, count];
  }
  return null;
}
