import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import type { Random } from "../../demo/random.ts";
import { type Suggest, valueFor } from "../schema/value.ts";
import type { Idea } from "./ideas.ts";
import type { CoderTool } from "./tools.ts";

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
  [/^(oldstring|oldstr|oldtext|find)$/, ({ oldText }) => oldText],
  [/^(newstring|newstr|newtext|replacement|inserttext)$/, ({ newText }) => newText],
  [/^(content|contents|filetext|newsource)$/, ({ content }) => (content === "" ? undefined : content)],
  [/^(command|cmd|script)$/, ({ command }) => command],
  [/^(description|title|reason|explanation)$/, ({ description }) => description],
  [/^(pattern|regex)$/, ({ pattern }) => pattern],
  [/^(query|searchterm|q)$/, ({ kind, pattern, query }) => (kind === "grep" ? pattern : query)],
  [/^(glob|include|filepattern)$/, () => "**/*.ts"],
  [/^(url|uri|link)$/, ({ url }) => url],
  [/^(prompt|task|instructions|question)$/, ({ prompt }) => prompt],
  [/^(offset|startline|start)$/, ({ offset }) => offset],
  [/^(limit|numlines)$/, ({ limit }) => limit],
  [/^endline$/, ({ offset, limit }) => offset + limit],
  [/^(viewrange|range)$/, ({ offset, limit }) => [offset, offset + limit]],
  [/^(cwd|dir|directory|folder|workdir|workingdirectory)$/, ({ folder }) => folder],
  [/^subagenttype$/, () => "general-purpose"],
  // Subagents do not run in the background. From the background, the result of a subagent would arrive as a
  // separate message, long after the work is done.
  [/^runinbackground$/, ({ kind }) => (kind === "agent" ? false : undefined)],
  [/^outputmode$/, () => "content"],
  [/^headlimit$/, () => 50],
  [/^timeout(ms)?$/, () => 120_000],
];

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

export function inputFor(tool: CoderTool, idea: Idea, random: Random): JsonRecord {
  if (tool.form === "editor") return editorInput(idea);
  if (tool.form === "memory") return memoryInput(idea, random);
  const suggest: Suggest = (name) => {
    const bare = name.toLowerCase().replace(/[^a-z0-9]/g, "");
    if (NAMED_TODOS.test(bare)) return todoForms(idea);
    const value = PROPERTIES.find(([names]) => names.test(bare))?.[1](idea);
    return value === undefined ? [] : [value];
  };
  const hasExtras = tool.kinds.includes("other");
  const input = valueFor({ type: "object", ...tool.schema }, { random, suggest, hasExtras });
  return isRecord(input) ? input : {};
}

function editorInput(idea: Idea): JsonRecord {
  const { path, offset, limit, oldText, newText, content } = idea;
  if (idea.kind === "write") return { command: "create", path, file_text: content };
  if (idea.kind === "edit") return { command: "str_replace", path, old_str: oldText, new_str: newText };
  return { command: "view", path, view_range: [offset, offset + limit] };
}

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
