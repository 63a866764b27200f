// Measures the cost of loading longhaul, compared to starting Node itself and loading other libraries.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { claim } from "./claims.mjs";
import { median } from "./measure.mjs";
import { milliseconds, table, times } from "./table.mjs";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const importing = (what) => ["--input-type=module", "--eval", `import ${JSON.stringify(what)}`];

const ROWS = [
  { key: "node", name: "node -e 0 (reference)", args: ["-e", "0"] },
  { key: "import", name: 'import "@longhaul/core"', ours: true, args: importing("@longhaul/core") },
  { key: "sessions", name: 'import "@longhaul/sessions"', ours: true, args: importing("@longhaul/sessions") },
  {
    key: "simulator",
    name: 'import "@longhaul/simulator"',
    ours: true,
    args: importing("@longhaul/simulator"),
  },
  { key: "agent", name: 'import "@longhaul/agent"', ours: true, args: importing("@longhaul/agent") },
  {
    key: "help",
    name: "longhaul --help",
    ours: true,
    args: [at("../packages/longhaul/bin/longhaul.js"), "--help"],
  },
  { key: "ai", name: 'import "ai"', args: importing("ai") },
  {
    key: "langchain",
    name: 'import "@langchain/core/messages"',
    args: importing("@langchain/core/messages"),
  },
  { key: "mastra", name: 'import "@mastra/core/agent"', args: importing("@mastra/core/agent") },
];

export async function run({ isQuick }) {
  const samples = new Map(ROWS.map(({ key }) => [key, []]));
  // Alternates all rows, so that a busy moment of the machine affects each of them.
  for (let round = 0; round < (isQuick ? 5 : 15); round++) {
    for (const { key, args } of ROWS) {
      const startedAt = performance.now();
      const { status } = spawnSync(process.execPath, args, { cwd: at("."), stdio: "ignore" });
      if (status === 0) samples.get(key).push(performance.now() - startedAt);
    }
  }
  const msOf = (key) => (samples.get(key).length > 0 ? median(samples.get(key)) : undefined);
  const node = msOf("node");
  const rows = ROWS.map(({ key, name, ours }) => ({
    ours,
    cells: [name, milliseconds(msOf(key)), msOf(key) === undefined ? "—" : times(msOf(key) / node)],
  }));
  return {
    text: table("Starting: the whole process, from spawn to exit", ["what", "time", "× node"], rows),
    claims: [
      claim(
        'import "@longhaul/core" adds, against starting Node',
        "≤ 1×",
        msOf("import") / node - 1,
        (r) => r <= 1,
      ),
      claim("longhaul --help adds, against starting Node", "≤ 2×", msOf("help") / node - 1, (r) => r <= 2),
    ],
  };
}
