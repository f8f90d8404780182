/** Uploads files into a graph, with progress, which `fetch` does not report. */

import { BrokerError } from "tidings-client";

const TYPES: Readonly<Record<string, string>> = {
  ttl: "text/turtle", nt: "application/n-triples", nq: "application/n-quads", trig: "application/trig", rdf: "application/rdf+xml", xml: "application/rdf+xml", jsonld: "application/ld+json", owl: "application/rdf+xml",
}; // prettier-ignore

export interface Upload {
  readonly file: File;
  readonly graph: string;
  readonly replace: boolean;
  readonly token: string | null;
  readonly progress: (part: number) => void;
}

export const ENDINGS = Object.keys(TYPES).map((ending) => `.${ending}`).join(",");

/** How many triples came in. Raises BrokerError. */
export function upload({ file, graph, replace, token, progress }: Upload): Promise<number> {
  return new Promise((resolve, reject) => {
    const type = TYPES[file.name.split(".").at(-1)?.toLowerCase() ?? ""];
    if (type === undefined) return reject(new Error(`${file.name} is none of ${ENDINGS.replaceAll(",", ", ")}: its ending says in which format it is`));
    const request = new XMLHttpRequest();
    const place = graph ? `graph=${encodeURIComponent(graph)}` : "default";
    request.open(replace ? "PUT" : "POST", new URL(`rdf-graphs/service?${place}`, document.baseURI));
    request.setRequestHeader("Content-Type", type);
    request.setRequestHeader("Tidings-Publisher", "dashboard");
    if (token) request.setRequestHeader("Authorization", `Bearer ${token}`);
    request.upload.onprogress = (event) => progress(event.lengthComputable ? event.loaded / event.total : 0);
    request.onerror = () => reject(new Error("the broker cannot be reached"));
    request.onload = () => {
      try {
        const content = JSON.parse(request.responseText) as BrokerError["envelope"] & { readonly response?: { readonly added: number } };
        if (request.status < 300) resolve(content.response?.added ?? 0);
        else reject(new BrokerError(content));
      } catch {
        reject(new Error(`the answer is none of the broker's: status ${request.status}`)); // a proxy's, perhaps
      }
    };
    request.send(file);
  });
}
