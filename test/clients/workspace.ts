/** The same small project and tools for every client, in the simplest form. */
const FILES: Readonly<Record<string, string>> = {
  "src/parser.ts": "export const parse = (text: string): string[] => text.split(',');\n",
  "src/parser.test.ts": "it('drops the last comma', () => expect(parse('a,')).toEqual(['a']));\n",
  "package.json": '{ "name": "sheep", "scripts": { "test": "vitest" } }\n',
};

export const READ_FILE = {
  name: "read_file",
  description: "Reads a file of the project.",
  input_schema: {
    type: "object",
    properties: { path: { type: "string", description: "path of the file" } },
    required: ["path"],
  },
} as const;

export const LIST_FILES = {
  name: "list_files",
  description: "Lists the files of the project.",
  input_schema: { type: "object", properties: {}, required: [] },
} as const;

export const REQUEST = "Why does the parser keep an empty last field? Look into the project.";

export function runTool(name: string, input: unknown): string {
  if (name === LIST_FILES.name) return Object.keys(FILES).join("\n");
  const path = String((input as { path?: unknown } | undefined)?.path);
  return FILES[path] ?? `There is no file ${path}.`;
}
