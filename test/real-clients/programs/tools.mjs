import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Tools of every program here, with JSON Schemas. They act on real files, as an agent's tools do. */
export const TOOLS = [
  {
    name: "read_file",
    description: "Reads a file.",
    schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    run: ({ path }) => readFileSync(path, "utf8"),
  },
  {
    name: "list_directory",
    description: "Lists the files of a folder.",
    schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    run: ({ path }) => readdirSync(path).join("\n"),
  },
  {
    name: "write_file",
    description: "Writes a file.",
    schema: {
      type: "object",
      properties: { path: { type: "string" }, content: { type: "string" } },
      required: ["path", "content"],
    },
    run: ({ path, content }) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return "Done.";
    },
  },
];

export const SYSTEM = `You are a coding agent.\nWorking directory: ${process.cwd()}`;

/** The model and the prompts of the conversation. */
export const [MODEL, ...PROMPTS] = process.argv.slice(2);

/** Runs a tool by its name. A failure becomes text, as in an agent. */
export function runTool(name, input) {
  try {
    return TOOLS.find((tool) => tool.name === name).run(input);
  } catch (error) {
    return `Error: ${error.message}`;
  }
}
