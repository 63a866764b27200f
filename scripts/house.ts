// Figures about the structure of the code: `npm run house`. `--root FOLDER` uses another checkout, `--json`
// prints JSON, and `--without NAME` runs the whole test suite without one optional module.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Figures, figuresOf, readGraph } from "./house/graph.ts";
import { MODULES } from "./house/modules.ts";
import { trace, type Way } from "./house/trace.ts";
import { runWithout } from "./house/without.ts";

const { values } = parseArgs({
  options: {
    root: { type: "string" },
    json: { type: "boolean" },
    without: { type: "string" },
    help: { type: "boolean" },
  },
});

if (values.help) {
  console.log(`npm run house                     prints the figures of this checkout
npm run house -- --root FOLDER    those of another checkout
npm run house -- --json           for machines, with the files of each way
npm run house -- --without NAME   runs the tests without a module: ${Object.keys(MODULES).join(", ")}`);
} else if (values.without !== undefined) {
  process.exitCode = runWithout(values.without);
} else {
  const root = resolve(values.root ?? ".");
  const figures = figuresOf(readGraph(root));
  const ways = Object.fromEntries(
    ["idleTurn", "compaction", "inPlace"].map((scenario) => [scenario, trace(root, scenario)]),
  );
  if (values.json) console.log(JSON.stringify({ ...figures, ways }, null, 2));
  else print(figures, ways);
}

function print(figures: Figures, ways: Readonly<Record<string, Way>>): void {
  const row = (name: string, value: string | number): void => console.log(`${name.padEnd(44)} ${value}`);
  const count = (number: number): string => number.toLocaleString("en-US");
  row("files of the packages, without tests", count(figures.files));
  row("lines", count(figures.lines));
  row("median of a file", figures.median);
  row("splinters (under 40 lines, one importer)", figures.splinters);
  row("files over 500 lines", figures.tooLong.join(", ") || "none");
  row("names that occur more than twice", figures.namesakes.join(", ") || "none");
  row("cycles, type imports included", figures.cycles.map((group) => group.length).join(", ") || "none");
  row("most imported", figures.fanIn.map(([file, times]) => `${file} (${times})`).join(", "));
  row("most importing", figures.fanOut.map(([file, times]) => `${file} (${times})`).join(", "));
  row(
    "closure of createCompactor",
    `${count(figures.closure.files)} files, ${count(figures.closure.lines)} lines`,
  );
  const way = (name: string): string => {
    const { files = 0, changes = 0 } = ways[name] ?? {};
    return `${files} files, ${changes} changes of folder`;
  };
  row("way of an idle turn", way("idleTurn"));
  row("way of a compaction in the engine", way("compaction"));
  row("way of compact --in-place", way("inPlace"));
}
