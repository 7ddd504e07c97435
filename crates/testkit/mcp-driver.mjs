// A client of the TypeScript SDK as a filter: one tool call per line of stdin, one result per line of stdout.
// node mcp-driver.mjs FOLDER_OF_NODE_MODULES PROGRAM ARGS...
// node mcp-driver.mjs FOLDER_OF_NODE_MODULES URL TOKEN
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [modules, command, ...args] = process.argv.slice(2);
const require = createRequire(modules + "/");
const load = (name) => import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/" + name)));
const { Client } = await load("client/index.js");

async function transport() {
  if (!command.startsWith("http://")) {
    const { StdioClientTransport } = await load("client/stdio.js");
    return new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" });
  }
  const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
  return new StreamableHTTPClientTransport(new URL(command), { requestInit: { headers: { Authorization: "Bearer " + args[0] } } });
}

const client = new Client({ name: "driver", version: "1" });
await client.connect(await transport());
for await (const line of createInterface({ input: process.stdin })) {
  const result = await client.callTool(JSON.parse(line), undefined, { timeout: 120000 });
  process.stdout.write(JSON.stringify(result) + "\n");
}
await client.close();
