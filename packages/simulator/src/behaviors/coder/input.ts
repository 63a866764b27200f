import { asList, isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import type { Random } from "../../demo/random.ts";
import { type Suggest, valueFor } from "../schema/value.ts";
import type { Idea } from "./ideas.ts";
import { bareName, type CoderTool, type ToolKind, usualField } from "./tools.ts";

const SEARCHES: readonly ToolKind[] = ["grep", "list", "read"];

/**
 * Values for the properties of a tool input. Each item has a pattern of property names, and a function that
 * returns the value from an idea. Names are compared in lower case and without `_`.
 */
const PROPERTIES: readonly (readonly [names: RegExp, value: (idea: Idea) => unknown])[] = [
  [
    /^(filepath|file|filename|targetfile|absolutepath|notebookpath|relativeworkspacepath)$/,
    ({ path }) => path,
  ],
  [/^path$/, ({ kind, path, folder }) => (kind === "grep" || kind === "list" ? folder : path)],
  [/^(paths|files|filepaths)$/, ({ path }) => (path === undefined ? undefined : [path])],
  // A tool that writes and edits needs the old text only for an edit.
  [/^(oldstring|oldstr|oldtext|find)$/, ({ kind, oldText }) => (kind === "write" ? undefined : oldText)],
  [
    /^(newstring|newstr|newtext|replacement|inserttext)$/,
    ({ kind, content, newText }) => (kind === "write" ? content : newText),
  ],
  [/^(content|contents|filetext|newsource)$/, ({ content }) => (content === "" ? undefined : content)],
  [/^script$/, ({ command }) => command],
  [/^commands$/, ({ command }) => [command]],
  [/^queries$/, ({ pattern }) => [pattern]],
  [/^(description|title|reason|explanation)$/, ({ description }) => description],
  [/^(pattern|regex)$/, ({ pattern }) => pattern],
  [/^(query|searchterm|q)$/, ({ kind, pattern, query }) => (kind === "grep" ? pattern : query)],
  // The files of a tool that may change something are never chosen by a pattern.
  [/^(glob|include|filepattern)$/, ({ kind }) => (SEARCHES.includes(kind) ? "**/*.ts" : undefined)],
  [/^(url|uri|link)$/, ({ url }) => url],
  [/^(prompt|task|instructions|question)$/, ({ prompt }) => prompt],
  [/^(offset|startline|start)$/, ({ offset }) => offset],
  [/^(limit|numlines)$/, ({ limit }) => limit],
  [/^endline$/, ({ offset, limit }) => offset + limit],
  [/^(viewrange|range)$/, ({ offset, limit }) => [offset, offset + limit]],
  [/^(dir|directory|folder)$/, ({ folder }) => folder],
  [/^(cwd|workdir|workingdirectory)$/, ({ kind, folder, root }) => (kind === "other" ? folder : root)],
  [/^subagenttype$/, () => "general-purpose"],
  // Subagents do not run in the background. From the background, the result of a subagent would arrive as a
  // separate message, long after the work is done.
  [/^runinbackground$/, ({ kind }) => (kind === "agent" ? false : undefined)],
  [/^outputmode$/, () => "content"],
  [/^headlimit$/, () => 50],
];

const TIMEOUT_SECONDS = 120;

const NAMED_TODOS = /^(todos|items|plan|tasks)$/;

/** Returns the formats in which tools accept a task list. */
function todoForms({ todos }: Idea): readonly unknown[] {
  if (todos.length === 0) return [];
  return [
    todos,
    todos.map(({ content, status }, index) => ({
      id: String(index + 1),
      content,
      status,
      priority: "medium",
    })),
    todos.map(({ content, status }) => ({ content, status })),
    todos.map(({ content, status }) => ({ step: content, status })),
    todos.map(({ content }) => content),
  ];
}

/** Returns a timeout in seconds if the schema says so, otherwise in milliseconds. */
function timeoutFor(schema: JsonRecord): number {
  const hasSeconds = /(?<!milli)second/i.test(JSON.stringify(schema));
  return hasSeconds ? TIMEOUT_SECONDS : TIMEOUT_SECONDS * 1_000;
}

export function inputFor(tool: CoderTool, idea: Idea, random: Random): JsonRecord {
  if (tool.form === "editor") return editorInput(idea);
  if (tool.form === "memory") return memoryInput(idea, random);
  if (tool.form === "script") return scriptInput(idea);
  if (tool.form === "patch") return patchInput(tool.schema, idea);
  const suggest: Suggest = (name, schema) => {
    const bare = bareName(name);
    if (NAMED_TODOS.test(bare)) return todoForms(idea);
    if (/^timeout(ms)?$/.test(bare)) return [timeoutFor(schema)];
    // Some shells take a program with its arguments.
    if (/^(command|cmd)$/.test(bare)) return [idea.command, ["bash", "-c", idea.command]];
    const value = PROPERTIES.find(([names]) => names.test(bare))?.[1](idea);
    return value === undefined ? [] : [value];
  };
  const hasExtras = tool.kinds.includes("other");
  const needed = usualField(idea.kind, tool.schema);
  const required = [...asList(tool.schema.required), ...(needed === undefined ? [] : [needed])];
  const input = valueFor(
    { type: "object", ...tool.schema, required: [...new Set(required)] },
    { random, suggest, hasExtras, isCautious: true },
  );
  return isRecord(input) ? input : {};
}

function editorInput(idea: Idea): JsonRecord {
  const { path, offset, limit, oldText, newText, content } = idea;
  if (idea.kind === "write") return { command: "create", path, file_text: content };
  if (idea.kind === "edit") return { command: "str_replace", path, old_str: oldText, new_str: newText };
  return { command: "view", path, view_range: [offset, offset + limit] };
}

/** Builds a program that runs the command and shows its output. Such a program is the whole input of the tool. */
const scriptInput = ({ command }: Idea): JsonRecord => ({
  input: `text(await tools.exec_command({ cmd: ${JSON.stringify(command)} }));`,
});

/**
 * Builds a patch in the format of OpenAI's models. The provider's own tool takes the path and the changed lines
 * as fields. Other tools of this name take one text, in the field `input` or `patch`.
 */
function patchInput({ properties }: JsonRecord, idea: Idea): JsonRecord {
  const { kind, path = "", content, oldText, newText } = idea;
  const isNew = kind === "write";
  const diff = isNew ? marked(content, "+") : `@@\n${marked(oldText, "-")}\n${marked(newText, "+")}`;
  const fields = isRecord(properties) ? properties : {};
  if ("operation" in fields) {
    return { operation: { type: isNew ? "create_file" : "update_file", path, diff: `${diff}\n` } };
  }
  const patch = `*** Begin Patch\n*** ${isNew ? "Add" : "Update"} File: ${path}\n${diff}\n*** End Patch\n`;
  return { ["patch" in fields ? "patch" : "input"]: patch };
}

/** Puts a mark before each line. */
const marked = (text: string, mark: string): string =>
  text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `${mark}${line}`)
    .join("\n");

/** Builds the input of a memory tool. The client keeps the files of this tool in a separate folder. */
function memoryInput({ path, mayWrite, description, content }: Idea, random: Random): JsonRecord {
  if (!mayWrite || random.between(0, 2) === 0) return { command: "view", path: "/memories" };
  const name = path?.slice(path.lastIndexOf("/") + 1).replace(/\.\w+$/, "") ?? "notes";
  return {
    command: "create",
    path: `/memories/${name}.md`,
    file_text: `${description}\n\n${content}`.trim(),
  };
}
