/** Queries to begin with: about the city of the demo, and about any graph. */

export interface Example {
  readonly title: string;
  readonly text: string;
  readonly graph: string;
  /** Worth subscribing to, not only asking once. */
  readonly live: boolean;
}

const LIGHT = "PREFIX light: <http://tidings.example/lighting#>";

export function cityExamples(graph: string): readonly Example[] {
  return [
    { title: "Lamps that are on", live: true, graph, text: `${LIGHT}\nSELECT ?lamp WHERE {\n  ?lamp light:hasStatus light:ON\n}` },
    {
      title: "Where somebody walks",
      live: true,
      graph,
      text: `${LIGHT}\nSELECT ?post ?lamp ?status WHERE {\n  ?sensor a light:PresenceSensor ;\n    light:hasValue "True" ;\n    light:isSensorOf ?post .\n  ?post light:hasLamp ?lamp .\n  ?lamp light:hasStatus ?status\n}`,
    },
    {
      title: "Lamps on, by road",
      live: true,
      graph,
      text: `${LIGHT}\nSELECT ?road (COUNT(?lamp) AS ?lamps) WHERE {\n  ?road light:isConnectedTo ?post .\n  ?post light:hasLamp ?lamp .\n  ?lamp light:hasStatus light:ON\n}\nGROUP BY ?road`,
    },
    {
      title: "Power in use, by district",
      live: true,
      graph,
      text: `${LIGHT}\nSELECT ?district (SUM(?power) AS ?watts) WHERE {\n  ?road light:isLocatedIn ?district ;\n    light:isConnectedTo ?post .\n  ?post light:hasLamp ?lamp .\n  ?lamp light:hasStatus light:ON ;\n    light:hasPower ?power\n}\nGROUP BY ?district`,
    },
    {
      title: "Posts on the map",
      live: false,
      graph,
      text: `${LIGHT}\nSELECT ?post ?latitude ?longitude ?status WHERE {\n  ?post light:hasPosition ?position ;\n    light:hasLamp ?lamp .\n  ?position light:hasLatitude ?latitude ;\n    light:hasLongitude ?longitude .\n  ?lamp light:hasStatus ?status\n}`,
    },
    { title: "A lamp post, as triples", live: true, graph, text: `${LIGHT}\nCONSTRUCT { ?s ?p ?o } WHERE {\n  VALUES ?s { light:POST_1_1 light:LAMP_1_1 light:PRESENCE_SENSOR_1_1 }\n  ?s ?p ?o\n}` },
  ];
}

export function generalExamples(graph: string): readonly Example[] {
  return [
    { title: "Anything at all", live: false, graph, text: "SELECT * WHERE {\n  ?subject ?predicate ?object\n}\nLIMIT 100" },
    { title: "Classes", live: true, graph, text: "SELECT ?class (COUNT(?thing) AS ?things) WHERE {\n  ?thing a ?class\n}\nGROUP BY ?class" },
    { title: "Predicates", live: false, graph, text: "SELECT ?predicate (COUNT(*) AS ?uses) WHERE {\n  ?s ?predicate ?o\n}\nGROUP BY ?predicate\nORDER BY DESC(?uses)" },
    { title: "Graphs", live: true, graph: "", text: "SELECT ?graph (COUNT(*) AS ?triples) WHERE {\n  GRAPH ?graph { ?s ?p ?o }\n}\nGROUP BY ?graph" },
    { title: "Classes and how they are linked", live: false, graph, text: "SELECT ?from ?predicate ?to (COUNT(*) AS ?links) WHERE {\n  ?a ?predicate ?b ; a ?from .\n  ?b a ?to\n}\nGROUP BY ?from ?predicate ?to\nORDER BY DESC(?links)\nLIMIT 60" },
  ];
}
