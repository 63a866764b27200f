import { existsSync, readFileSync } from "node:fs";
import type { Entry } from "@longhaul/core";
import { flatten } from "@longhaul/core/request";
import {
  currentConversation,
  historyBefore,
  loadSession,
  resumeSession,
  type Session,
} from "@longhaul/sessions";
import { isCompactBoundary } from "../../packages/core/src/messages/entry.ts";
import { contentBlocks } from "../../packages/core/src/messages/message.ts";
import { standInUuids } from "../../packages/core/src/messages/stand-ins.ts";
import { formatNotes, parseNotes } from "../../packages/notes/src/notes-format.ts";
import { NOTES_TEMPLATE, parseTemplate } from "../../packages/notes/src/template.ts";
import { uuidsOf } from "./killed-report.case.ts";
import { TranscriptView, tokensIn } from "./transcript-view.case.ts";

/** Facts that all processes so far have reported about the session. */
export interface Ledger {
  /** Uuids of lines that were reported as written to disk. */
  readonly uuids: ReadonlySet<string>;
  /** Words of the person in the written lines. */
  readonly words: ReadonlySet<string>;
  /**
   * Coverage of the notes when a compaction was written. The key is the uuid of the compaction's boundary,
   * the value is the last covered message.
   */
  readonly covered: ReadonlyMap<string, string | undefined>;
  /** Number of lines that a kill interrupted. */
  readonly tornLines: number;
}

const template = parseTemplate(NOTES_TEMPLATE);

/** Returns all faults of a session after its process was killed. Empty if there are none. */
export async function faultsIn(
  paths: { readonly sessionPath: string; readonly notesPath: string },
  ledger: Ledger,
): Promise<readonly string[]> {
  const session = await loadSession(paths.sessionPath);
  const resumed = await resumeSession(paths.sessionPath);
  const isSame =
    JSON.stringify(flatten(resumed.conversation)) === JSON.stringify(flatten(session.conversation));
  return [
    ...(isSame ? [] : ["read from its end it is another conversation than read whole"]),
    ...damageIn(session, ledger),
    ...missingLines(session, ledger),
    ...missingWords(JSON.stringify(flatten(session.conversation)), paths.sessionPath, ledger.words),
    ...session.boundaries.flatMap(({ index }) => notKept(session, index, ledger)),
    ...faultsInNotes(paths.notesPath),
  ];
}

function damageIn({ damage }: Session, { tornLines }: Ledger): readonly string[] {
  const kinds = damage.map(({ kind }) => kind);
  const others = kinds.filter((kind) => kind !== "torn-last-line" && kind !== "broken-line");
  return kinds.length - others.length > tornLines ? [`damage: ${kinds.join()}`] : others;
}

/**
 * Returns the missing lines. Each written line must be in the file. If a written message follows the last
 * compaction, it must also be in the conversation.
 */
function missingLines({ entries, conversation, boundaries }: Session, { uuids }: Ledger): readonly string[] {
  const inFile = new Set(uuidsOf(entries));
  const standing = withWhatTheyStandFor(conversation, entries);
  const current = boundaries.find(({ isCurrent }) => isCurrent)?.index ?? 0;
  const unseen = entries
    .slice(current)
    .filter(({ type, uuid = "" }) => isMessageType(type) && uuids.has(uuid) && !standing.has(uuid));
  return [
    ...[...uuids].filter((uuid) => !inFile.has(uuid)).map((uuid) => `line ${uuid} is not in the file`),
    ...unseen.map(({ uuid }) => `message ${uuid} is in the file but not in the conversation`),
  ];
}

const isMessageType = (type: string): boolean => type === "user" || type === "assistant";

/** Uuids of the conversation and of all its collapsed messages. */
function withWhatTheyStandFor(
  conversation: readonly Entry[],
  entries: readonly Entry[],
): ReadonlySet<string> {
  const byUuid = new Map(entries.map((entry) => [entry.uuid ?? "", entry]));
  const found = new Set<string>();
  const waiting = [...conversation];
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    if (entry.uuid !== undefined) found.add(entry.uuid);
    for (const uuid of standInUuids(entry)) {
      const original = byUuid.get(uuid);
      if (original !== undefined && !found.has(uuid)) waiting.push(original);
    }
  }
  return found;
}

/**
 * Returns the words of the person that are lost. A word is lost if it is neither in the context nor in the
 * transcript that the context refers to.
 */
export function missingWords(
  context: string,
  sessionPath: string,
  words: ReadonlySet<string>,
): readonly string[] {
  const inContext = tokensIn(context);
  const isPointedTo = context.includes(sessionPath);
  const transcript = new TranscriptView(sessionPath);
  transcript.update();
  return [...words]
    .filter((word) => !inContext.has(word) && !(isPointedTo && transcript.said.has(word)))
    .map((word) => `${word} is lost`);
}

/**
 * Returns the messages that a compaction from notes lost. It must keep all messages that the notes do not
 * cover.
 */
function notKept({ entries, boundaries }: Session, index: number, { covered }: Ledger): readonly string[] {
  const boundary = entries[index];
  if (boundary === undefined || !isCompactBoundary(boundary)) return [];
  if (boundary.compactMetadata.longhaul?.tier !== "memory") return [];
  if (!covered.has(boundary.uuid)) return [`nobody told of the boundary ${boundary.uuid}`];
  const before = historyBefore(entries, boundary).entries;
  const remembered = covered.get(boundary.uuid);
  const noted = before.findIndex(({ uuid }) => uuid === remembered);
  if (remembered !== undefined && noted === -1) return [`${remembered} was remembered and is in no line`];
  const next = boundaries.find((other) => other.index > index)?.index;
  const after = factsIn(currentConversation(entries.slice(0, next)).entries);
  const fresh = remembered === undefined ? [] : before.slice(noted + 1);
  return [...factsIn(fresh)].filter((fact) => !after.has(fact)).map((fact) => `${fact} was not kept`);
}

/** Returns the facts that identify a message: its calls, results and the person's words. */
function factsIn(entries: readonly Entry[]): ReadonlySet<string> {
  const facts = new Set<string>();
  for (const { content } of flatten(entries)) {
    for (const block of contentBlocks(content)) {
      if (block.type === "tool_use") facts.add(`call ${block.id}`);
      if (block.type === "tool_result") facts.add(`result ${block.tool_use_id}`);
      if (block.type === "text") for (const word of tokensIn(block.text)) facts.add(word);
    }
  }
  return facts;
}

/**
 * Checks the notes. They may be absent. Otherwise they must be complete, with every heading and the comment
 * about their coverage.
 */
function faultsInNotes(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8");
  const notes = parseNotes(text, template);
  const lines = text.split("\n");
  const headings = lines.filter((line) => template.sections.some(({ heading }) => heading === line));
  const areIntact = template.sections.every(({ heading, guide }, nth) => {
    return headings[nth] === heading && lines[lines.indexOf(heading) + 1] === guide;
  });
  return [
    ...(formatNotes(notes) === text ? [] : ["the notes are not whole"]),
    ...(areIntact && headings.length === template.sections.length ? [] : ["the notes' headings are damaged"]),
    ...(notes.coveredUuid === undefined ? ["the notes remember nothing"] : []),
  ];
}
