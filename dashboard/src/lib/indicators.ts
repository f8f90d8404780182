/** The indicators of the SPS paper, each in a line. */

export interface Indicator {
  readonly name: string;
  readonly text: string;
}

export const INDICATORS: readonly Indicator[] = [
  { name: "LHR", text: "LUTT hit rate, in per cent: how many of all pairs of an update and a subscription had to be looked at." },
  { name: "Ups", text: "Updates a second that the engine alone could do, at the times of T_UPDATE, T_LUTT, T_BOOSTER and T_NOTIFY." },
  { name: "Sps", text: "Subscriptions a second: Ups times the subscriptions there are." },
  { name: "Tps", text: "Triples a second: Sps times the triples that an update replaces." },
  { name: "E2E", text: "What notifying costs: the time after T_UPDATE, in times of T_UPDATE." },
  { name: "Nu_avg", text: "Triples that an update replaces, on average." },
  { name: "updates_per_second", text: "Updates a second that came, since the start." },
];
