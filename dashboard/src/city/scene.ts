/** Draws the city: lamps as light, and people who walk. It does not know the broker; its caller passes the changes. */

import type { Plan, Road, Spot } from "./plan";
import { type Walker, Walkers } from "./walkers";

interface Lamp {
  readonly spot: Spot;
  wanted: number; // how bright it should be, from 0 to 1
  light: number; // how bright it is
  broken: boolean;
}

/** A lamp of a road, or the road itself. */
export interface Selected {
  readonly road: Road;
  readonly lamp: string | null;
}

const LAMP_REACH = 8; // pixels within which a click is one on a lamp
const ROAD_REACH = 14;
const NIGHT = "#0d1320";
const GROUND = "#1b2435";
const GLOW = 36;
const MARGIN = 34;
const FOOT = 62; // pixels at the bottom that are for figures
const HOUSE = "#111929";

export class Scene {
  readonly walkers = new Walkers();
  selected: Selected | null = null;
  private readonly lamps = new Map<string, Lamp>();
  private readonly posts = new Map<string, Spot>();
  private readonly glow: HTMLCanvasElement;
  private scale = 1;
  private left = 0;
  private top = 0;

  constructor(readonly plan: Plan) {
    for (const spot of plan.spots) {
      this.lamps.set(spot.post.lamp, { spot, wanted: 0, light: 0, broken: false });
      this.posts.set(spot.post.iri, spot);
    }
    this.glow = glowing();
  }

  get on(): number {
    let count = 0;
    for (const lamp of this.lamps.values()) if (lamp.wanted > 0) count += 1;
    return count;
  }

  get people(): number {
    return this.walkers.all.filter((walker) => walker.present).length;
  }

  switched(lamp: string, status: string, dimming: number): void {
    const found = this.lamps.get(lamp);
    if (found === undefined) return;
    found.broken = status === "BROKEN";
    found.wanted = status === "ON" ? 0.45 + 0.55 * Math.min(1, Math.max(0, dimming / 100)) : 0;
  }

  noticed(post: string, present: boolean): void {
    const spot = this.posts.get(post);
    if (spot === undefined) return;
    if (present) this.walkers.arrive(spot.road, spot.post.index, performance.now());
    else this.walkers.leave(spot.road, spot.post.index, performance.now());
  }

  /** The lamp near a place of the canvas, or else the road there. */
  at(x: number, y: number): Selected | null {
    let best: Selected | null = null;
    let nearest = LAMP_REACH;
    for (const { post, road, x: left, y: top } of this.plan.spots) {
      const distance = Math.hypot(this.x(left) - x, this.y(top) - y);
      if (distance < nearest) [best, nearest] = [{ road, lamp: post.lamp }, distance];
    }
    if (best !== null) return best;
    nearest = ROAD_REACH;
    for (const { road, from, to } of this.plan.lines) {
      const distance = this.distance(x, y, from, to);
      if (distance < nearest) [best, nearest] = [{ road, lamp: null }, distance];
    }
    return best;
  }

  /** From a place of the canvas to a road. */
  private distance(x: number, y: number, from: Spot, to: Spot): number {
    const [left, top] = [this.x(from.x), this.y(from.y)];
    const [across, down] = [this.x(to.x) - left, this.y(to.y) - top];
    const length = across ** 2 + down ** 2;
    const part = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - left) * across + (y - top) * down) / length));
    return Math.hypot(left + part * across - x, top + part * down - y);
  }

  draw(canvas: HTMLCanvasElement, seconds: number): void {
    const context = canvas.getContext("2d");
    if (context === null) return;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.fit(width, height);
    context.fillStyle = NIGHT;
    context.fillRect(0, 0, width, height);
    this.drawHouses(context);
    this.drawRoads(context);
    this.drawLamps(context, seconds);
    this.walkers.step(seconds, performance.now());
    for (const walker of this.walkers.all) this.drawWalker(context, walker);
  }

  private fit(width: number, height: number): void {
    this.scale = Math.min((width - 2 * MARGIN) / this.plan.width, (height - MARGIN - FOOT) / this.plan.height);
    this.left = (width - this.scale * this.plan.width) / 2;
    this.top = (height + MARGIN - FOOT - this.scale * this.plan.height) / 2;
  }

  /** Decorative blocks between the roads, without data behind them. */
  private drawHouses(context: CanvasRenderingContext2D): void {
    context.fillStyle = HOUSE;
    for (let y = 2, row = 0; y < this.plan.height - 3; y += 4.4, row += 1) {
      for (let x = -2, seed = 5 + row * 13; x < this.plan.width; seed = (seed * 29 + 11) % 101) {
        const long = 2.5 + (seed % 5);
        context.fillRect(this.x(x), this.y(y), long * this.scale, (2.2 + (seed % 3) * 0.5) * this.scale);
        x += long + 0.9;
      }
    }
  }

  private x(units: number): number {
    return this.left + units * this.scale;
  }

  private y(units: number): number {
    return this.top + units * this.scale;
  }

  private drawRoads(context: CanvasRenderingContext2D): void {
    context.lineCap = "round";
    for (const { road, from, to } of this.plan.lines) {
      context.lineWidth = Math.max(5, this.scale * 0.95);
      context.strokeStyle = this.selected?.road === road ? "#31466b" : GROUND;
      context.beginPath();
      context.moveTo(this.x(from.x), this.y(from.y));
      context.lineTo(this.x(to.x), this.y(to.y));
      context.stroke();
    }
  }

  private drawLamps(context: CanvasRenderingContext2D, seconds: number): void {
    const reach = Math.max(14, this.scale * 3.2);
    context.globalCompositeOperation = "lighter";
    for (const lamp of this.lamps.values()) {
      lamp.light += (lamp.wanted - lamp.light) * Math.min(1, seconds * 5);
      if (lamp.light < 0.01) continue;
      context.globalAlpha = lamp.light;
      context.drawImage(this.glow, this.x(lamp.spot.x) - reach, this.y(lamp.spot.y) - reach, 2 * reach, 2 * reach);
    }
    context.globalCompositeOperation = "source-over";
    context.globalAlpha = 1;
    for (const lamp of this.lamps.values()) this.drawPost(context, lamp);
  }

  private drawPost(context: CanvasRenderingContext2D, { spot, light, broken }: Lamp): void {
    const chosen = this.selected?.lamp === spot.post.lamp;
    context.fillStyle = broken ? "#7c3b3b" : light > 0.05 ? "#fff3d0" : "#4b5a78";
    context.beginPath();
    context.arc(this.x(spot.x), this.y(spot.y), light > 0.05 ? 2.2 : 1.5, 0, 2 * Math.PI);
    context.fill();
    if (!chosen) return;
    context.strokeStyle = "#ffffff";
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(this.x(spot.x), this.y(spot.y), 9, 0, 2 * Math.PI);
    context.stroke();
  }

  private drawWalker(context: CanvasRenderingContext2D, walker: Walker): void {
    const line = this.plan.lines.find(({ road }) => road === walker.road);
    if (line === undefined) return;
    const [first, last] = [line.from.post.index, line.to.post.index];
    const part = last === first ? 0 : (walker.position - first) / (last - first);
    const x = this.x(line.from.x + part * (line.to.x - line.from.x));
    const y = this.y(line.from.y + part * (line.to.y - line.from.y));
    context.globalAlpha = walker.light;
    context.fillStyle = "#8fe3da";
    context.strokeStyle = NIGHT;
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(x, y, 4.2, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    context.globalAlpha = 1;
  }
}

/** The light of a lamp, painted once: painting a gradient for each lamp would take most of the time of a frame. */
function glowing(): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 2 * GLOW;
  const context = canvas.getContext("2d");
  if (context === null) return canvas;
  const light = context.createRadialGradient(GLOW, GLOW, 0, GLOW, GLOW, GLOW);
  light.addColorStop(0, "rgb(255 226 150 / 0.95)");
  light.addColorStop(0.18, "rgb(255 198 96 / 0.5)");
  light.addColorStop(0.55, "rgb(255 170 60 / 0.13)");
  light.addColorStop(1, "rgb(255 170 60 / 0)");
  context.fillStyle = light;
  context.fillRect(0, 0, canvas.width, canvas.height);
  return canvas;
}
