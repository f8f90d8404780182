/** The queries about the city: one for its plan, and subscriptions to its lamps and sensors while the page shows them. */

const LIGHT = "http://tidings.example/lighting#";
const PREFIX = `PREFIX light: <${LIGHT}>\n`;

export const ROADS = `${PREFIX}SELECT ?road ?name ?post ?lamp WHERE {
  ?road light:isConnectedTo ?post ; light:hasName ?name .
  ?post light:hasLamp ?lamp
}`;

export const LAMPS = `${PREFIX}SELECT ?lamp ?status ?dimming WHERE {
  ?lamp light:hasStatus ?status ;
    light:hasDimmingValue ?dimming
}`;

export const PRESENCES = `${PREFIX}SELECT ?post WHERE {
  ?sensor a light:PresenceSensor ;
    light:hasValue "True" ;
    light:isSensorOf ?post
}`;

export const TEMPO = `${PREFIX}SELECT ?tempo WHERE {
  light:CITY light:hasTempo ?tempo
}`;

export function ofLamp(lamp: string): string {
  return `${PREFIX}SELECT ?fact ?value WHERE {\n  ${short(lamp)} ?fact ?value\n}`;
}

export function ofRoad(road: string): string {
  return `${PREFIX}SELECT ?lamp ?status ?dimming WHERE {\n  ${short(road)} light:isConnectedTo ?post .\n  ?post light:hasLamp ?lamp .\n  ?lamp light:hasStatus ?status ;\n    light:hasDimmingValue ?dimming\n}`;
}

/** The update that sets the speed of the city's people: the demo reads it from the graph. */
export function setTempo(graph: string, tempo: number): string {
  return `${PREFIX}WITH <${graph}>\nDELETE { light:CITY light:hasTempo ?before }\nINSERT { light:CITY light:hasTempo ${tempo.toFixed(1)} }\nWHERE { OPTIONAL { light:CITY light:hasTempo ?before } }`;
}

export function setDimming(graph: string, lamp: string, percent: number): string {
  return `${PREFIX}WITH <${graph}>\nDELETE { ${short(lamp)} light:hasDimmingValue ?before }\nINSERT { ${short(lamp)} light:hasDimmingValue "${percent}" }\nWHERE { ${short(lamp)} light:hasDimmingValue ?before }`;
}

function short(iri: string): string {
  return iri.startsWith(LIGHT) ? `light:${iri.slice(LIGHT.length)}` : `<${iri}>`;
}

export function local(iri: string): string {
  return iri.slice(iri.lastIndexOf("#") + 1);
}
