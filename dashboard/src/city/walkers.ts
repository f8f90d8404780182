/**
 * Infers people from the readings of presence sensors: if one reading ends and another begins nearby soon after, the
 * module assumes the same person. Positions are along a road, in posts; between two posts, a person keeps walking.
 */

import type { Road } from "./plan";

export interface Walker {
  readonly road: Road;
  position: number;
  heading: number; // posts a second
  target: number;
  present: boolean;
  seen: number; // when a sensor noticed or lost them, in milliseconds
  light: number; // how visible they are, from 0 to 1
}

const REACH = 3; // the greatest distance, in posts, between two readings of the same person
const PATIENCE = 9_000; // milliseconds after which a person without a reading has left the road

export class Walkers {
  readonly all: Walker[] = [];

  arrive(road: Road, at: number, now: number): void {
    const known = this.nearest(road, at);
    if (known === undefined) {
      this.all.push({ road, position: at, heading: 0, target: at, present: true, seen: now, light: 0 });
      return;
    }
    const seconds = Math.max(0.2, (now - known.seen) / 1000);
    known.heading = Math.max(-4, Math.min(4, (at - known.target) / seconds));
    known.target = at;
    known.present = true;
    known.seen = now;
  }

  leave(road: Road, at: number, now: number): void {
    const walker = this.all.find((each) => each.road === road && each.present && each.target === at);
    if (walker === undefined) return;
    walker.present = false;
    walker.seen = now;
  }

  /** Move all people by some seconds of walking. */
  step(seconds: number, now: number): void {
    for (const walker of this.all) {
      const goal = walker.present ? walker.target : walker.target + Math.sign(walker.heading) * 0.7;
      walker.position += (goal - walker.position) * Math.min(1, seconds * 1.6);
      const stays = walker.present || now - walker.seen < PATIENCE;
      walker.light += ((stays ? 1 : 0) - walker.light) * Math.min(1, seconds * 3);
    }
    const gone = (walker: Walker): boolean => !walker.present && now - walker.seen > PATIENCE + 2_000;
    for (let index = this.all.length - 1; index >= 0; index -= 1) {
      const walker = this.all[index];
      if (walker && gone(walker)) this.all.splice(index, 1);
    }
  }

  clear(): void {
    this.all.length = 0;
  }

  private nearest(road: Road, at: number): Walker | undefined {
    let best: Walker | undefined;
    for (const walker of this.all) {
      if (walker.road !== road || walker.present) continue;
      const distance = Math.abs(walker.target - at);
      if (distance <= REACH && (best === undefined || distance < Math.abs(best.target - at))) best = walker;
    }
    return best;
  }
}
