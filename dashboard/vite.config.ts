import { fileURLToPath } from "node:url";

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

const broker = "http://127.0.0.1:8000";
const paths = ["/query", "/update", "/status", "/metrics", "/subscriptions", "/delayed", "/log", "/rdf-graphs", "/oauth", "/healthz"];

export default defineConfig({
  base: "./", // the broker may be behind a proxy, below a path
  plugins: [svelte()],
  resolve: { alias: { "tidings-client": fileURLToPath(new URL("../clients/js/src/index.ts", import.meta.url)) } },
  build: {
    target: "es2022",
    cssTarget: ["chrome123", "firefox120", "safari17.5"], // those that know light-dark()
    assetsInlineLimit: 0, // the policy of the page allows no data: addresses
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
  },
  server: {
    proxy: {
      ...Object.fromEntries(paths.map((path) => [path, { target: broker, headers: { Origin: broker } }])),
      "/subscribe": { target: broker, ws: true, headers: { Origin: broker } },
    },
  },
});
