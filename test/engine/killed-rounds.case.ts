import { join } from "node:path";
import { afterAll, expect } from "vitest";
import type { Random } from "../../packages/simulator/src/demo/random.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";
import type { Moment } from "./killed-moments.case.ts";
import { KilledSession, type KilledSessionOptions, type KillFigures } from "./killed-session.case.ts";

/** A few hundred kills take minutes, so an ordinary test run has only one round. */
const isLong = process.env.LONGHAUL_LONG_RUN === "1";
export const ROUNDS: readonly number[] = Array.from({ length: isLong ? 15 : 1 }, (_, round) => round + 1);
export const KILLS_TIMEOUT = { timeout: 240_000 };

/** The thinking of the second model is valid only after unchanged messages. */
const MODELS = ["claude-haiku-4-5", "claude-opus-5-5"] as const;

/**
 * Returns the share of a write that reaches the file. In the first round, only the end of the last line is
 * missing. In later rounds, the share is random.
 */
export const tornShare = (seed: number, chance: Random): number =>
  seed === 1 ? 0.9999 : chance.between(1, 9_999) / 10_000;

export type OpenSession = (
  options: Omit<KilledSessionOptions, "folder" | "modelName">,
) => Promise<KilledSession>;

/**
 * Opens the sessions of one test file. A long run reports at the end which operations the kills interrupted.
 */
export function killedRounds(name: string): OpenSession {
  const folder = temporaryFolder();
  const sessions: KilledSession[] = [];
  let opened = 0;
  afterAll(async () => {
    for (const { simulator } of sessions) await simulator.close();
    if (isLong) console.log(name, JSON.stringify(totalOf(sessions.map(({ figures }) => figures))));
  });
  return async (options) => {
    const nth = ++opened;
    const modelName = MODELS[(options.seed + nth) % MODELS.length] ?? MODELS[0];
    const session = await KilledSession.open({
      ...options,
      modelName,
      folder: join(folder, `session-${nth}`),
    });
    sessions.push(session);
    return session;
  };
}

export async function killAt(session: KilledSession, moment: Moment): Promise<void> {
  expect(await session.kill(moment), moment.name).toEqual([]);
}

function totalOf(all: readonly KillFigures[]): KillFigures {
  const sum = (name: keyof KillFigures): number => all.reduce((total, figures) => total + figures[name], 0);
  return { kills: sum("kills"), writes: sum("writes"), locks: sum("locks"), notes: sum("notes") };
}
