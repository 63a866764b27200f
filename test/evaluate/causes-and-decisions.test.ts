import { computeThresholds, ESTIMATORS, findModel } from "@longhaul/core/measure";
import { createPolicy } from "@longhaul/lab";
import { loadSession } from "@longhaul/sessions";
import { beforeAll, describe, expect, it } from "vitest";
import { planChain, runChain } from "../../packages/lab/src/compaction-chain.ts";
import { SessionFiles } from "../../packages/lab/src/session-files.ts";
import { sessionStream } from "../../packages/lab/src/session-stream.ts";
import { describeRecorded, realSessionPath } from "../support/real-sessions.ts";
import { recordedText } from "../support/recorded-text.ts";
import { CAUSES_AND_DECISIONS } from "./causes-and-decisions.ts";
import { holdsFact, normalizeWords, type RecordedFact } from "./recorded-fact.ts";

const WINDOW_TOKENS = 50_000;
const COMPACTIONS = [1, 10, 40] as const;
/** Number of the forty facts that the context has to hold after ten compactions. */
const MIN_HELD = 36;
const CHAINS_TIMEOUT_MS = 600_000;

type Compactions = (typeof COMPACTIONS)[number];

/** Facts of a session that a chain replays, and those of them that its last context holds. */
interface ChainFacts {
  readonly session: string;
  readonly replayed: readonly RecordedFact[];
  readonly held: readonly RecordedFact[];
}

const SESSIONS = [...new Set(CAUSES_AND_DECISIONS.map(({ session }) => session))];

/** Counts the tokens of each text once, because the chains measure the same texts many times. */
function createCounter(): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    const tokens = known.get(text) ?? ESTIMATORS.o200k(text);
    known.set(text, tokens);
    return tokens;
  };
}

/** Replays a session with chains of compactions under our policy, and looks up its facts in the last contexts. */
async function replaySession(name: string): Promise<ReadonlyMap<Compactions, ChainFacts>> {
  const path = realSessionPath(name);
  const session = await loadSession(path);
  const countText = createCounter();
  const thresholds = computeThresholds({
    ...findModel(session.model),
    windowTokens: WINDOW_TOKENS,
    windowOrigin: "option",
  });
  const stream = sessionStream(session);
  const texts = new Map(stream.map((entry) => [entry.uuid, recordedText(entry)]));
  const chains = new Map<Compactions, ChainFacts>();
  for (const compactions of COMPACTIONS) {
    const course = planChain(stream, thresholds, compactions, countText);
    const files = new SessionFiles();
    const policy = createPolicy("longhaul", { model: session.model, state: { files }, countText });
    const { entries } = await runChain(course, {
      policy,
      thresholds,
      transcriptPath: path,
      countText,
      onRound: (round) => files.add(round),
    });
    const context = entries.map(recordedText).join("\n");
    const uuids = new Set(course.flatMap((round) => round.entries.map(({ uuid }) => uuid)));
    const replayed = CAUSES_AND_DECISIONS.filter((fact) => fact.session === name && uuids.has(fact.uuid));
    const held = replayed.filter((fact) => holdsFact(fact, texts.get(fact.uuid) ?? "", context));
    chains.set(compactions, { session: name, replayed, held });
  }
  return chains;
}

/** Describes each fact that a context lost, in our own words. */
function describeLost(chains: readonly ChainFacts[]): string {
  return chains
    .flatMap(({ replayed, held }) => replayed.filter((fact) => !held.includes(fact)))
    .map(({ session, kind, uuid, note }) => `${session} ${uuid} ${kind}: ${note}`)
    .join("\n");
}

const countHeld = (chains: readonly ChainFacts[]): number => chains.flatMap(({ held }) => held).length;

describeRecorded("causes and decisions of the recorded sessions", () => {
  const chains = new Map<Compactions, readonly ChainFacts[]>();

  beforeAll(async () => {
    const sessions: ReadonlyMap<Compactions, ChainFacts>[] = [];
    for (const name of SESSIONS) sessions.push(await replaySession(name));
    for (const compactions of COMPACTIONS) {
      const facts = sessions.flatMap((session) => session.get(compactions) ?? []);
      chains.set(compactions, facts);
      const rates = facts.map(
        ({ session, replayed, held }) => `${session} ${held.length}/${replayed.length}`,
      );
      const total = `${countHeld(facts)}/${facts.flatMap(({ replayed }) => replayed).length}`;
      console.log(`${compactions} compactions hold ${total}\n  ${rates.join("\n  ")}`);
    }
  }, CHAINS_TIMEOUT_MS);

  it("the forty facts come from eight sessions, each exists once, and its spans are inside its text", async () => {
    expect(CAUSES_AND_DECISIONS).toHaveLength(40);
    expect(SESSIONS.length).toBeGreaterThanOrEqual(8);
    for (const name of SESSIONS) {
      const { entries } = await loadSession(realSessionPath(name));
      for (const fact of CAUSES_AND_DECISIONS.filter(({ session }) => session === name)) {
        const texts = entries.filter(({ uuid }) => uuid === fact.uuid).map(recordedText);
        expect(texts, fact.uuid).toHaveLength(1);
        const end = fact.start + fact.length;
        expect(fact.start >= 0 && end <= Number(texts[0]?.length), fact.uuid).toBe(true);
        expect(fact.mustHave.length >= 2 && fact.mustHave.length <= 5, fact.uuid).toBe(true);
        expect(holdsFact(fact, texts[0] ?? "", (texts[0] ?? "").slice(fact.start, end)), fact.uuid).toBe(
          true,
        );
      }
    }
  });

  it("a chain of ten compactions replays each of the forty facts", () => {
    expect(chains.get(10)?.flatMap(({ replayed }) => replayed)).toHaveLength(CAUSES_AND_DECISIONS.length);
  });

  it("the context holds at least 36 of the forty facts after ten compactions", () => {
    const facts = chains.get(10) ?? [];
    expect(countHeld(facts), describeLost(facts)).toBeGreaterThanOrEqual(MIN_HELD);
  });

  it("the context holds as many of the facts after forty compactions as after ten", () => {
    const known = new Set(chains.get(10)?.flatMap(({ replayed }) => replayed));
    const facts = (chains.get(40) ?? []).map((chain) => ({
      ...chain,
      replayed: chain.replayed.filter((fact) => known.has(fact)),
      held: chain.held.filter((fact) => known.has(fact)),
    }));
    expect(countHeld(facts), describeLost(facts)).toBeGreaterThanOrEqual(countHeld(chains.get(10) ?? []));
  });
});

describe("the search for a fact in a context", () => {
  it("a fact holds in a context that uses its words with other endings, emphasis and white space", () => {
    const text = "The lock failed because two writers closed it.";
    const fact: RecordedFact = {
      session: "invented.jsonl",
      kind: "cause",
      uuid: "invented",
      start: 0,
      length: text.length,
      note: "The lock fails with two writers.",
      mustHave: [
        { start: 4, length: 11 },
        { start: 24, length: 11 },
      ],
    };
    expect(holdsFact(fact, text, "Two\n**writer** instances: the `lock` failing.")).toBe(true);
    expect(holdsFact(fact, text, "Two readers: the lock failed.")).toBe(false);
    expect(normalizeWords("This CLASS  is *closing*")).toBe("this clas is clos");
  });
});
