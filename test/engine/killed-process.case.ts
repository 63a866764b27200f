import {
  type AppendFile,
  type OpenedAppendFile,
  openAppendFile,
} from "../../packages/sessions/src/transcript/writer.ts";
/**
 * A separate process in which an agent works on a session in files. Tests kill this process. Its one argument
 * contains its orders. If the session exists, it resumes the session. It reports with unbuffered writes.
 */

import { existsSync, readFileSync, statSync, writeSync } from "node:fs";
import type { TranscriptPort } from "@longhaul/core";
import { notesFile, openTranscript, resumeSession } from "@longhaul/sessions";
import { createFixedClock } from "@longhaul/simulator";
import { isCompactBoundary } from "../../packages/core/src/messages/entry.ts";
import { stringField } from "../../packages/core/src/messages/untrusted.ts";
import { parseNotes } from "../../packages/notes/src/notes-format.ts";
import { NOTES_TEMPLATE, parseTemplate } from "../../packages/notes/src/template.ts";
import type { CompactorOptions } from "../support/full-compactor.ts";
import { AgentLoop } from "./agent-loop.case.ts";
import { kindOf, type LineKind, type Orders, type Report, uuidsOf } from "./killed-report.case.ts";
import { tokensIn } from "./transcript-view.case.ts";

/** Maximum number of turns. Without it, a moment that never comes would block a test forever. */
const MAX_TURNS = 400;
const OFTEN = { firstTokens: 1_000, nextTokens: 500, toolCalls: 1 };

const orders = JSON.parse(process.argv[2] ?? "") as Orders;
const { sessionPath, notesPath } = orders;
const template = parseTemplate(NOTES_TEMPLATE);
const report = (said: Report): void => void writeSync(1, `${JSON.stringify(said)}\n`);

/** Waits until the process is killed. */
function holdStill(): Promise<never> {
  setInterval(() => undefined, 1_000);
  report({ type: "held" });
  return new Promise<never>(() => undefined);
}

/** Number of finished writes of each kind. */
const passed = new Map<LineKind, number>();

function isHeldAt(at: "before" | "torn" | "after", kind: LineKind): boolean {
  const { hold } = orders;
  return hold?.at === at && hold.kind === kind && (passed.get(kind) ?? 0) >= hold.skip;
}

/** Opens a file whose write stops in the middle, like in a killed process. */
async function openTearing(path: string, mayCreate: boolean): Promise<OpenedAppendFile> {
  const { file, realPath } = await openAppendFile(path, mayCreate);
  const tearing: AppendFile = {
    state: () => file.state(),
    datasync: () => file.datasync(),
    truncate: (bytes) => file.truncate(bytes),
    close: () => file.close(),
    write: async (bytes) => {
      if (!isHeldAt("torn", kindOf(Buffer.from(bytes).toString()))) return await file.write(bytes);
      // Omits at least two bytes, because a line that lacks only its line end counts as complete.
      const part = Math.min(
        bytes.length - 2,
        Math.max(1, Math.floor(bytes.length * (orders.hold?.share ?? 0))),
      );
      await file.write(bytes.subarray(0, part));
      return await holdStill();
    },
  };
  return { file: tearing, realPath };
}

const coveredUuid = (): string | undefined =>
  existsSync(notesPath) ? parseNotes(readFileSync(notesPath, "utf8"), template).coveredUuid : undefined;

async function openPort(known: ReadonlySet<string>): Promise<TranscriptPort & { close(): Promise<void> }> {
  const transcript = await openTranscript(sessionPath, { openFile: openTearing });
  return {
    path: sessionPath,
    has: (uuid) => known.has(uuid),
    read: (uuids) => transcript.read(uuids),
    close: () => transcript.close(),
    append: async (entries) => {
      const text = JSON.stringify(entries);
      const kind = kindOf(text);
      const boundaryUuid = entries.find(isCompactBoundary)?.uuid;
      const bytes = statSync(sessionPath).size;
      report({ type: "writing", kind, bytes, boundaryUuid, coveredUuid: coveredUuid() });
      if (isHeldAt("before", kind)) await holdStill();
      await transcript.append(entries);
      report({ type: "written", uuids: uuidsOf(entries), words: [...tokensIn(text)] });
      if (isHeldAt("after", kind)) await holdStill();
      passed.set(kind, (passed.get(kind) ?? 0) + 1);
    },
  };
}

function headroom(): Pick<CompactorOptions, "notes" | "collapse" | "compaction"> {
  if (orders.headroom === "background") return { compaction: { background: true } };
  if (orders.headroom === "summaries") return { compaction: { background: false } };
  if (orders.headroom === "collapse") return { collapse: {} };
  const writer = orders.headroom === "notes" ? "model" : "built-in";
  const growth = orders.notesOften ? { growth: OFTEN } : {};
  return { notes: { file: notesFile(notesPath), writer, ...growth } };
}

async function work(): Promise<void> {
  const { url, seed, windowTokens, modelName, until } = orders;
  // A process that was killed before its first line leaves nothing to resume.
  const isBegun = existsSync(sessionPath) && statSync(sessionPath).size > 0;
  const conversation = isBegun ? (await resumeSession(sessionPath)).conversation : [];
  report({ type: "started", resumedMessages: conversation.length });
  const transcript = await openPort(new Set(uuidsOf(conversation)));
  const loop = new AgentLoop({
    simulator: { url, clock: createFixedClock(orders.startMs) },
    seed,
    modelName,
    form: "entries",
    resumed: conversation,
    resultTokens: 1_000,
    humanEvery: 5,
    compactor: { window: { tokens: windowTokens }, clearing: { form: "off" }, transcript, ...headroom() },
    host: {
      onEvent: (event) => report({ type: "event", name: event.type, reason: stringField(event, "reason") }),
    },
  });
  const rewrites = (): number => loop.eventsOf("compacted").length + loop.eventsOf("spans-committed").length;
  for (let left = until.moreTurns; left > 0 || rewrites() < until.rewrites; ) {
    if (loop.turns >= MAX_TURNS) throw new Error(`Nothing happened in ${MAX_TURNS} turns`);
    await loop.turn();
    report({ type: "turn", turn: loop.turns });
    if (rewrites() >= until.rewrites) left -= 1;
  }
  await loop.compactor.close();
  await transcript.close();
  report({ type: "done", problems: loop.problems });
}

await work();
