/** The city of the demo, kept up to date by ordinary subscriptions. */

import type { Change, Row, Subscription } from "tidings-client";

import { broker, told } from "../lib/broker.svelte";
import { DEMO } from "../lib/graphs.svelte";
import { type Post, type Road, planOf } from "./plan";
import { LAMPS, PRESENCES, ROADS, TEMPO, local, setTempo } from "./queries";
import { Scene } from "./scene";

const DATASET = { defaultGraphs: [DEMO] };
const USUAL_TEMPO = 3;

export class City {
  scene = $state.raw<Scene | null>(null);
  on = $state(0);
  people = $state(0);
  rate = $state(0);
  tempo = $state(USUAL_TEMPO);
  fault = $state("");
  private readonly subscriptions: Subscription[] = [];
  private timer: ReturnType<typeof setInterval> | undefined;
  private notifications = 0;
  private counted = 0;

  async begin(): Promise<void> {
    try {
      const scene = new Scene(planOf(roadsOf(await broker.client.select(ROADS, DATASET))));
      this.scene = scene;
      this.follow(LAMPS, (change) => this.switched(scene, change));
      this.follow(PRESENCES, (change) => this.noticed(scene, change));
      this.follow(TEMPO, (change) => this.paced(change));
      this.timer = setInterval(() => this.count(scene), 1000);
    } catch (error) {
      this.fault = told(error);
    }
  }

  end(): void {
    clearInterval(this.timer);
    for (const subscription of this.subscriptions) subscription.unsubscribe();
  }

  async hurry(tempo: number): Promise<void> {
    this.tempo = tempo;
    await broker.client.update(setTempo(DEMO, tempo), { publisher: "dashboard" });
  }

  private follow(query: string, change: (change: Change) => void): void {
    const subscription = broker.client.subscribe(query, { change, error: (error) => (this.fault = error.message) }, DATASET);
    this.subscriptions.push(subscription);
  }

  private switched(scene: Scene, { added }: Change): void {
    this.notifications += 1;
    for (const { row } of added) scene.switched(value(row, "lamp"), local(value(row, "status")), Number(value(row, "dimming")));
  }

  private noticed(scene: Scene, { added, removed, whole }: Change): void {
    this.notifications += 1;
    if (whole) scene.walkers.clear();
    for (const { row } of removed) scene.noticed(value(row, "post"), false);
    for (const { row } of added) scene.noticed(value(row, "post"), true);
  }

  private paced({ added }: Change): void {
    const [entry] = added;
    if (entry) this.tempo = Number(value(entry.row, "tempo"));
  }

  private count(scene: Scene): void {
    this.on = scene.on;
    this.people = scene.people;
    this.rate = this.notifications - this.counted;
    this.counted = this.notifications;
  }
}

function value(row: Row, name: string): string {
  return row[name]?.value ?? "";
}

/** Roads by their numbers, posts in the order of theirs. */
function roadsOf(rows: readonly Row[]): Road[] {
  const roads = new Map<string, { name: string; posts: Post[] }>();
  for (const row of rows) {
    const iri = value(row, "road");
    const road = roads.get(iri) ?? { name: value(row, "name"), posts: [] };
    const post = value(row, "post");
    road.posts.push({ iri: post, lamp: value(row, "lamp"), index: Number(post.slice(post.lastIndexOf("_") + 1)) });
    roads.set(iri, road);
  }
  const all = [...roads].map(([iri, { name, posts }]) => ({ iri, name, posts: posts.sort((a, b) => a.index - b.index) }));
  return all.sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
}
