import { join } from "node:path";
import type { Message } from "@longhaul/core";
import { readLedger } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import { loadSession, openTranscript, resumeSession } from "@longhaul/sessions";
import { coder, type SummaryKind, summaries } from "@longhaul/simulator";
import { afterEach, describe, expect, it } from "vitest";
import { isCompactBoundary } from "../../packages/core/src/messages/entry.ts";
import type { Kinds } from "../../packages/simulator/src/behaviors/answers.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";
import type { AgentLoop } from "./agent-loop.case.ts";
import type { Form } from "./host-conversation.case.ts";
import { PlantedWishes, STATUSES_AT_THE_END } from "./planted-wishes.case.ts";
import { hasCompacted, openScene, type Scene, workUntil } from "./scene.case.ts";

const folder = temporaryFolder();
let scene: Scene;
afterEach(() => scene.simulator.close());

/** Types of poor summaries that the engine still accepts. */
const POOR: readonly SummaryKind[] = ["no-tags", "half-tag", "wrong-language", "enormous", "injected"];

const WRITERS: Readonly<Record<string, Kinds<SummaryKind>>> = {
  good: "good",
  poor: (attempt) => POOR[attempt % POOR.length] ?? "no-tags",
  hostile: "hostile",
};

const ALL = Object.keys(WRITERS).flatMap((writer) =>
  (["messages", "entries"] as const).flatMap((form) =>
    (["on", "off"] as const).map((background) => [writer, form, background] as const),
  ),
);
/**
 * All twelve runs take half a minute. An ordinary test run includes all runs with the worst summaries. It
 * includes one run for each other type.
 */
const COURSES =
  process.env.LONGHAUL_LONG_RUN === "1"
    ? ALL
    : ALL.filter(([writer, form, background]) =>
        writer === "hostile"
          ? true
          : background === "on" && form === (writer === "good" ? "entries" : "messages"),
      );

interface Course {
  readonly form: Form;
  readonly background: boolean;
  readonly path: string;
  readonly wishes: PlantedWishes;
  readonly seed: number;
  readonly resumed?: readonly Message[];
}

/** Runs one process until this number of compactions. */
async function work(
  { path, wishes, background, seed, ...options }: Course,
  compactions: number,
): Promise<AgentLoop> {
  const transcript = await openTranscript(path);
  const known = new Set(
    options.resumed?.flatMap((message) => ("uuid" in message ? (message.uuid ?? []) : [])),
  );
  const loop = scene.loop({
    ...options,
    seed,
    resultTokens: 600,
    compactor: {
      transcript: { path, append: (entries) => transcript.append(entries), has: (uuid) => known.has(uuid) },
      compaction: { background },
    },
    onTurn: ({ compaction, request }, { said }) => {
      if (compaction !== undefined) wishes.check(request.messages, compaction.ledger, said.at(-1));
    },
  });
  if (options.resumed === undefined) wishes.begin(loop);
  for (let nth = 1; nth <= compactions; nth++) {
    expect(await workUntil(loop, hasCompacted(loop, nth))).toBe(true);
    wishes.speak(loop);
  }
  await loop.turn();
  expect(loop.problems).toEqual([]);
  expect(loop.eventsOf("background-ended").some(({ outcome }) => outcome === "ready")).toBe(background);
  await loop.compactor.close();
  await transcript.close();
  return loop;
}

describe.each(COURSES)(
  "rules of the user under %s summaries, in a conversation of %s, in the background: %s",
  (writer, form, background) => {
    it("ten compactions and a new process lose no rule of the user and never the newest request", async () => {
      const behaviors = [
        summaries(WRITERS[writer]),
        coder({ turns: 7, chattiness: 0.1, inventsPaths: true }),
      ];
      scene = await openScene({ behaviors, windowTokens: 24_000 });
      const path = join(folder, `${writer}-${form}-${background}.jsonl`);
      const wishes = new PlantedWishes();
      const course: Course = { form, background: background === "on", path, wishes, seed: 1 };
      await work(course, 7);
      const { conversation } = await resumeSession(path);
      // After a resume, a host that keeps plain messages has no ledger. For such a host, the quotation of the
      // rules must be enough.
      const resumed = form === "messages" ? structuredClone(flatten(conversation)) : conversation;
      await work({ ...course, seed: 100, resumed }, 4);
      expect(wishes.faults).toEqual([]);
      expect(wishes.ledgers.length).toBeGreaterThan(10);
      // The summaries of the writer "good" state the rules, so the compaction adds no quotation of the rules.
      // If a host then resumes from plain messages, it cannot know the statuses of the rules.
      const isTold = form === "entries" || writer !== "good";
      if (isTold) expect(wishes.statusesAtTheEnd()).toEqual(STATUSES_AT_THE_END);
      const { entries } = await loadSession(path);
      const written = entries.filter(isCompactBoundary).map(readLedger);
      expect(written).toEqual(JSON.parse(JSON.stringify(wishes.ledgers)));
      expect(scene.simulator.requests.invalid).toEqual([]);
    });
  },
);
