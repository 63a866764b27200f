import { type CallTurn, commandOf, textField } from "./read-session.ts";
import { type SessionView, spread, topicWords } from "./session-view.ts";
import type { Probe, WordGroup } from "./types.ts";
import { contentStems, normalForm, tokensOf } from "./words.ts";

type Draft = Omit<Probe, "id">;

const MAX_FILES = 20;

interface EditedFile {
  readonly path: string;
  readonly call: CallTurn;
}

const EDIT_TOOL = /edit|write|patch|replace|create/i;
const PATH_FIELDS = ["file_path", "path", "notebook_path", "filePath"];
const PATCH_FILE = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm;
/** Files of the machine, not of the project. */
const TEMPORARY = /^(?:\/tmp\/|\/var\/folders\/|\/private\/tmp\/)|[\\/]temp[\\/]/i;

/** Returns the files that the agent changed, each with its last change. */
export function editedFiles(view: SessionView): EditedFile[] {
  const files = new Map<string, EditedFile>();
  for (const { call, result } of view.runs) {
    if (result?.isError === true) continue;
    for (const file of editedFilesOf(call)) {
      if (TEMPORARY.test(file.path)) continue;
      files.delete(file.path);
      files.set(file.path, file);
    }
  }
  return [...files.values()];
}

export function editedFilesOf(call: CallTurn): EditedFile[] {
  const { input } = call;
  const patch = [input.input, input.patch, input.command, input.cmd].find(
    (text): text is string => typeof text === "string" && text.includes("*** Begin Patch"),
  );
  if (patch !== undefined) {
    return [...patch.matchAll(PATCH_FILE)].map((match) => ({
      path: (match[1] ?? "").trim(),
      call,
    }));
  }
  if (!EDIT_TOOL.test(call.tool) || /todo/i.test(call.tool)) return [];
  const path = PATH_FIELDS.map((name) => textField(input, name)).find((text) => text !== "");
  return path === undefined ? [] : [{ path, call }];
}

export const segmentsOf = (path: string): string[] =>
  path.split(/[\\/]+/).filter((part) => part !== "" && part !== ".");

/** A path alone may be any path. Every second file needs one word that says that it was changed. */
const CHANGE_STEMS = contentStems(
  tokensOf(
    "new added changed removed replaced renamed fixed extended refactored simplified wrapped rewritten deleted",
  ),
);
export const CHANGED: WordGroup = {
  words: CHANGE_STEMS.map((stem) => [stem, 1]),
  share: 1 / CHANGE_STEMS.length,
};

/** Probes for the files that the agent changed. Any suffix of the path that is unique in the session counts. */
export function fileProbes(view: SessionView): Draft[] {
  const files = editedFiles(view);
  const names = new Map<string, number>();
  for (const { path } of files) {
    const name = segmentsOf(path).at(-1) ?? "";
    names.set(name, (names.get(name) ?? 0) + 1);
  }
  return spread(files, MAX_FILES).flatMap(({ path, call }, index) => {
    const segments = segmentsOf(path);
    const name = segments.at(-1);
    if (name === undefined || normalForm(name) === "") return [];
    const shortest = names.get(name) === 1 ? 1 : Math.min(2, segments.length);
    const forms = [segments.slice(-shortest).join("/")];
    const topic = topicWords(view, lastWords(view, call) || changeOf(call), segments);
    const folder = segments.at(-1 - shortest) ?? "project";
    return [
      {
        kind: "file",
        question:
          topic === ""
            ? `Which file in the folder "${folder}" was changed as number ${index + 1}?`
            : `Which file was changed for "${topic}"?`,
        text: path,
        answer: {
          needles: [forms.map(normalForm)],
          groups: index % 2 === 0 ? [CHANGED] : [],
          isChange: !isRemoved(view, name, call),
        },
        entryIds: [call.entryId],
      } satisfies Draft,
    ];
  });
}

const REMOVES = /\b(?:rm|mv|git (?:checkout|restore|stash|reset))\b/;

/** Returns true if a later command may have removed or restored the file. */
const isRemoved = (view: SessionView, name: string, { at }: CallTurn): boolean =>
  view.runs.some(({ call }) => {
    const command = commandOf(call) ?? "";
    return call.at > at && REMOVES.test(command) && command.includes(name);
  });

/** Names of fields with the new text of a file. */
const TEXT_FIELDS = ["new_string", "content", "input", "patch"];

/** Without a text before the edit, the words of the new text name the change. */
const changeOf = ({ input }: CallTurn): string =>
  (TEXT_FIELDS.map((name) => textField(input, name)).find((text) => text !== "") ?? "").slice(
    0,
    MAX_TOPIC_CHARS,
  );

/** The text before an edit usually says what the edit is for. */
const MAX_TURNS_BACK = 3;
const MAX_TOPIC_CHARS = 600;

function lastWords(view: SessionView, call: CallTurn): string {
  for (let at = call.at - 1; at >= Math.max(0, call.at - MAX_TURNS_BACK); at--) {
    const turn = view.turns[at];
    if (turn?.type === "assistant") return turn.text.slice(0, MAX_TOPIC_CHARS);
  }
  return "";
}
