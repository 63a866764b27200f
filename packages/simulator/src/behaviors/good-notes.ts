import { contentBlocks, filePathIn, fileUseOf, isShellTool } from "@longhaul/core/internal/messages";
import { isContinuation } from "@longhaul/core/internal/summary";
import type { ApiMessage } from "@longhaul/core/messages";
import type { NotesSection } from "@longhaul/notes/internal/format";
import { inputText, resultHead, type SeenCall, seenCalls } from "./coder/coder-view.ts";
import { progressLine, readProgress } from "./coder/progress.ts";
import { isNamed, type SectionChange, type SeenNotesRequest, sectionsShown } from "./notes-protocol.ts";

/**
 * Number of newest messages to read. They include more than the messages since the last notes. Facts that are
 * already noted are not repeated.
 */
const LOOK_BACK_MESSAGES = 60;
const MAX_LINES_EACH = 12;
const MAX_LINE_CHARS = 240;
const LATEST_CALLS = 3;
/**
 * Characters per token of an answer. The figure is low on purpose, so that `max_tokens` does not cut the
 * answer.
 */
const CHARS_PER_TOKEN = 2;
/** Matches text that the client, not a person, adds for the model. */
const REMINDER = /^\s*<system-reminder>/;

/** Writes careful notes: facts from the conversation, no repetition, and shorter sections on request. */
export function goodNotes(request: SeenNotesRequest, maxTokens: number): readonly SectionChange[] {
  const sections = sectionsShown(request.facts.shown);
  const recent = request.conversation.slice(-LOOK_BACK_MESSAGES);
  const calls = seenCalls(recent);
  const wishes = [
    ...stateWishes(sections, recent, calls),
    ...condensing(sections, request.facts),
    ...additions(sections, recent, calls),
  ];
  return withinRoom(firstOfEach(wishes), maxTokens * CHARS_PER_TOKEN);
}

/** Keeps one edit per section. The current state has priority, then shortened sections, then new facts. */
function firstOfEach(wishes: readonly SectionChange[]): readonly SectionChange[] {
  const headings = new Set<string>();
  return wishes.filter(({ section: { heading } }) => !headings.has(heading) && headings.add(heading));
}

function withinRoom(wishes: readonly SectionChange[], characters: number): readonly SectionChange[] {
  let left = characters;
  return wishes.filter(({ section, mode, text }) => {
    const size =
      text.length + (mode === "replace" ? text.length + section.body.length : section.guide.length);
    if (size > left) return false;
    left -= size;
    return true;
  });
}

function stateWishes(
  sections: readonly NotesSection[],
  recent: readonly ApiMessage[],
  calls: readonly SeenCall[],
): readonly SectionChange[] {
  const section = sections.find((one) => isNamed(one, "Current State")) ?? sections[0];
  if (section === undefined) return [];
  const latest = calls.slice(0, LATEST_CALLS).map((call) => `- ${callLine(call)}`);
  const asked = humanLines(recent).at(-1);
  const lines = [
    progressLine(recent) ?? "",
    ...(latest.length > 0 ? ["Latest calls:", ...latest] : []),
    asked === undefined ? "" : `Latest request: ${asked}`,
  ].filter((line) => line !== "");
  const text = lines.join("\n");
  return text === "" || text === section.body ? [] : [{ section, mode: "replace", text }];
}

/**
 * Shortens the sections that the request asks to condense. Keeps the second half of each, which is the newer
 * one.
 */
function condensing(
  sections: readonly NotesSection[],
  { condense, isUrgent }: SeenNotesRequest["facts"],
): readonly SectionChange[] {
  const isMeant = (section: NotesSection): boolean =>
    condense.some((name) => isNamed(section, name)) || (isUrgent && section.body.length > MAX_LINE_CHARS);
  return sections.filter(isMeant).flatMap((section): readonly SectionChange[] => {
    const lines = section.body.split("\n");
    const half = section.body.slice(-Math.ceil(section.body.length / 2)).toWellFormed();
    const text = lines.length > 1 ? lines.slice(Math.ceil(lines.length / 2)).join("\n") : half;
    return text.trim() === "" ? [] : [{ section, mode: "replace", text: text.trim() }];
  });
}

function additions(
  sections: readonly NotesSection[],
  recent: readonly ApiMessage[],
  calls: readonly SeenCall[],
): readonly SectionChange[] {
  const oldestFirst = calls.toReversed();
  const { topic } = readProgress(recent);
  const found: Readonly<Record<string, readonly string[]>> = {
    "Session Title": sections.some((one) => isNamed(one, "Session Title") && one.body !== "") ? [] : [topic],
    "Task Specification": humanLines(recent).map(bullet),
    "Files and Functions": oldestFirst.flatMap(fileLine).map(bullet),
    Workflow: oldestFirst
      .flatMap(({ name, input }) => (isShellTool(name) ? [inputText(input)] : []))
      .map(bullet),
    "Errors & Corrections": oldestFirst
      .filter(({ isError }) => isError)
      .map(callLine)
      .map(bullet),
    Worklog: worklog(recent, calls).map(bullet),
  };
  return sections.flatMap((section): readonly SectionChange[] => {
    const name = Object.keys(found).find((one) => isNamed(section, one));
    const noted = new Set(section.body.split("\n"));
    const lines = [...new Set(found[name ?? ""] ?? [])].filter(
      (line) => line.trim() !== "-" && !noted.has(line),
    );
    if (lines.length === 0) return [];
    return [{ section, mode: "append", text: lines.slice(-MAX_LINES_EACH).join("\n") }];
  });
}

const bullet = (line: string): string => `- ${line}`;

function fileLine({ name, input }: SeenCall): readonly string[] {
  const path = filePathIn(input);
  const use = fileUseOf(name, input);
  return path === undefined || use === undefined
    ? []
    : [`\`${path}\`: ${use === "read" ? "read" : "changed"}`];
}

function callLine({ name, input, result, isError }: SeenCall): string {
  const what = oneLine(inputText(input));
  const call = what === "" ? name : `${name} on \`${what}\``;
  return oneLine(`${call} ${isError ? "failed" : "answered"}: ${resultHead(result) || "nothing"}`);
}

/** Writes one worklog line about the latest calls. The step number makes the line unique. */
function worklog(recent: readonly ApiMessage[], calls: readonly SeenCall[]): readonly string[] {
  const progress = progressLine(recent);
  if (progress === undefined || calls.length === 0) return [];
  const names = [...new Set(calls.map(({ name }) => name))].sort();
  return [oneLine(`${progress.replace(/^[^(]*/, "")} with ${names.join(", ")}`)];
}

function humanLines(messages: readonly ApiMessage[]): readonly string[] {
  return messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => contentBlocks(content))
    .flatMap((block) => (block.type === "text" && isSaid(block.text) ? [oneLine(block.text)] : []))
    .filter((line) => line !== "");
}

const isSaid = (text: string): boolean => !REMINDER.test(text) && !isContinuation(text);

const oneLine = (text: string): string =>
  text
    .slice(0, 4 * MAX_LINE_CHARS)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_LINE_CHARS)
    .toWellFormed();
