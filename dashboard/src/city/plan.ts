/**
 * The layout of the city's roads on the screen. In the data, roads are lines on the map of a town, too fine to see; here
 * long roads are avenues from left to right, and shorter ones cross between them, in the order of their numbers.
 */

export interface Road {
  readonly iri: string;
  readonly name: string;
  readonly posts: readonly Post[];
}

export interface Post {
  readonly iri: string;
  readonly lamp: string;
  readonly index: number;
}

export interface Spot {
  readonly post: Post;
  readonly road: Road;
  readonly x: number;
  readonly y: number;
}

export interface Plan {
  readonly width: number;
  readonly height: number;
  readonly spots: readonly Spot[];
  readonly lines: readonly { readonly road: Road; readonly from: Spot; readonly to: Spot }[];
}

const AVENUE = 40; // posts from which a road goes from left to right
const GAP = 3;
const BAND = 17; // from avenue to avenue
const STEP = 0.6; // from post to post on a road that crosses

interface Placed {
  readonly road: Road;
  readonly x: number;
  readonly y: number;
  readonly dx: number;
  readonly dy: number;
}

export function planOf(roads: readonly Road[]): Plan {
  const total = roads.reduce((sum, road) => sum + road.posts.length, 0);
  const width = 104 * Math.max(1, Math.round(Math.sqrt(total / 900)));
  const placed = avenues(roads.filter((road) => road.posts.length >= AVENUE), width);
  const lines = Math.max(2, 1 + Math.max(0, ...placed.map(({ y }) => y / BAND)));
  const short = roads.filter((road) => road.posts.length < AVENUE);
  placed.push(...crossings(short, width, lines - 1));
  const spots = placed.flatMap(({ road, x, y, dx, dy }) => road.posts.map((post, at) => ({ post, road, x: x + at * dx, y: y + at * dy })));
  const height = Math.max(...spots.map(({ y }) => y), BAND);
  return { width, height, spots, lines: placed.map(({ road }) => lineOf(road, spots)) };
}

/** Row after row, as many as fit; each row in the middle. */
function avenues(roads: readonly Road[], width: number): Placed[] {
  const rows: Road[][] = [[]];
  let used = 0;
  for (const road of roads) {
    const length = road.posts.length;
    if (used > 0 && used + length > width) {
      rows.push([]);
      used = 0;
    }
    rows.at(-1)?.push(road);
    used += length + GAP;
  }
  return rows.flatMap((row, number) => centred(row, width, number * BAND));
}

function centred(roads: readonly Road[], width: number, y: number): Placed[] {
  let x = (width - roads.reduce((sum, road) => sum + road.posts.length + GAP, -GAP)) / 2;
  return roads.map((road) => {
    const placed = { road, x, y, dx: 1, dy: 0 };
    x += road.posts.length + GAP;
    return placed;
  });
}

/** Places the cross roads between the avenues, band by band, evenly spaced; each is as long as its posts need. */
function crossings(roads: readonly Road[], width: number, bands: number): Placed[] {
  const each = Math.ceil(roads.length / Math.max(1, bands));
  const mixed = roads.toSorted((a, b) => scattered(a) - scattered(b));
  return mixed.map((road, number) => {
    const band = number % Math.max(1, bands);
    const place = Math.floor(number / Math.max(1, bands));
    const shift = ((band * 0.37 + 0.3) % 1) * 0.8;
    return { road, x: Math.round(((place + shift + 0.1) / each) * (width - 4)) + 2, y: band * BAND + 1.2, dx: 0, dy: STEP * Math.min(1.6, 25 / road.posts.length) };
  });
}

/** A pseudo-random number, always the same for a road. */
function scattered({ name }: Road): number {
  let seed = 7;
  for (const letter of name) seed = (seed * 31 + letter.charCodeAt(0)) % 9973;
  return (seed * 7919) % 9973;
}

function lineOf(road: Road, spots: readonly Spot[]): Plan["lines"][number] {
  const own = spots.filter((spot) => spot.road === road);
  const [from, to] = [own[0], own.at(-1)];
  if (from === undefined || to === undefined) throw new Error(`${road.iri} has no posts`);
  return { road, from, to };
}
