/** Code for a query, to paste into programs that do what the page does. */

export interface Recipe {
  readonly name: string;
  readonly code: string;
}

interface Wanted {
  readonly query: string;
  readonly graph: string;
  readonly address: string;
  readonly secured: boolean;
  /** The address of the broker's MQTT gate, if it has one: `mqtt://host:1883/prefix`. */
  readonly mqtt: string | null;
}

export function recipes(wanted: Wanted): readonly Recipe[] {
  return [
    { name: "curl", code: curl(wanted) },
    { name: "Python", code: python(wanted) },
    { name: "JavaScript", code: javascript(wanted) },
    { name: "JSAP", code: jsap(wanted) },
    ...(wanted.mqtt === null ? [] : [{ name: "MQTT", code: mqtt(wanted, wanted.mqtt) }]),
  ];
}

const shell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function curl({ query, graph, address, secured }: Wanted): string {
  const token = secured ? ` -H "Authorization: Bearer $TOKEN"` : "";
  const over = graph ? ` \\\n  --data-urlencode ${shell(`default-graph-uri=${graph}`)}` : "";
  const asked = `--data-urlencode ${shell(`query=${query}`)}${over}`;
  return `# once\ncurl${token} ${address}/query ${asked}\n\n# and whenever the answer changes\ncurl -sN -G${token} ${address}/subscribe ${asked}\n`;
}

function python({ query, graph, address, secured }: Wanted): string {
  const quoted = `"""${query.replaceAll("\\", "\\\\").replaceAll('"""', '\\"\\"\\"')}"""`;
  const over = graph ? `, default_graphs=[${JSON.stringify(graph)}]` : "";
  const login = secured ? "  # with security on: `tidings login` first, or see docs/client.md" : "";
  const socket = address.replace(/^http/, "ws");
  return (
    `# with Tidings installed: docs/install.md\nimport asyncio\nfrom tidings.client import connect\n\nQUERY = ${quoted}\n\n\nasync def main():\n` +
    `    async with connect("${socket}/subscribe") as broker:${login}\n` +
    `        async with await broker.subscribe(QUERY${over}) as live:\n` +
    `            async for change in live:\n                print(change.commit, change.added, change.removed)\n\n\nasyncio.run(main())\n`
  );
}

function javascript({ query, graph, address, secured }: Wanted): string {
  const quoted = `\`${query.replaceAll("\\", "\\\\").replaceAll("`", "\\`").replaceAll("${", "\\${")}\``;
  const options = secured ? ", { token: () => process.env.TOKEN }" : "";
  const over = graph ? `, { defaultGraphs: [${JSON.stringify(graph)}] }` : "";
  return (
    `// with clients/js of Tidings installed, as its README says; in a browser, or Node 22 or later\nimport { Tidings } from "tidings-client";\n\nconst tidings = new Tidings("${address}"${options});\nconst query = ${quoted};\nconst text = ({ row }) => Object.values(row).map(({ value }) => value).join(" ");\n\n` +
    `const answer = tidings.subscribe(query, {\n  change: ({ added, removed, notification }) => console.log(notification.commit, added.map(text), removed.map(text)),\n}${over});\n`
  );
}

function mqtt({ query, graph }: Wanted, address: string): string {
  const [, secure, host = "localhost", port = "1883", prefix = "tidings"] = /^mqtt(s?):\/\/(.*?)(?::(\d+))?\/(.+)$/.exec(address) ?? [];
  const to = `-h ${host} -p ${port}${secure ? " --tls-use-os-certs" : ""} -q 1`;
  const request = JSON.stringify({ sparql: query, ...(graph && { "default-graph-uri": graph }), reply: "answers/me" });
  return (
    `# the answer, and then every change of it: each subscription has a topic\nmosquitto_sub ${to} -v -t answers/me -t ${shell(`${prefix}/subscriptions/#`)} &\n` +
    `mosquitto_pub ${to} -t ${shell(`${prefix}/subscribe`)} -m ${shell(request)}\n\n` +
    `# an update\nmosquitto_pub ${to} -t ${shell(`${prefix}/update`)} -m ${shell("INSERT DATA { <urn:lamp:1> <urn:power> 40 }")}\n`
  );
}

function jsap({ query, graph, address }: Wanted): string {
  const { hostname, port, protocol } = new URL(address);
  const secure = protocol === "https:";
  const number = Number(port) || (secure ? 443 : 80);
  const scheme = secure ? "wss" : "ws";
  const profile = {
    host: hostname,
    sparql11protocol: { protocol: secure ? "https" : "http", port: number, query: { path: "/query", method: "POST" }, update: { path: "/update", method: "POST" } },
    sparql11seprotocol: { protocol: scheme, availableProtocols: { [scheme]: { port: number, path: "/subscribe" } } },
    ...(graph && { graphs: { "default-graph-uri": graph } }),
    queries: { MY_QUERY: { sparql: query } },
  };
  return `${JSON.stringify(profile, null, 2)}\n`;
}
