import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { ledgerOf } from "../../../../../test/support/sheet-ledger.ts";
import type { Entry } from "../../messages/entry.ts";
import type { Fact } from "../../messages/fact-ledger.ts";
import { extractFacts, type FactSheet } from "./extract-facts.ts";
import { findFacts } from "./find-facts.ts";
import { FACTS_BUDGET_TOKENS, quoteFacts } from "./quote-facts.ts";
import { isReasonFact } from "./reason-facts.ts";

const countTokens = (text: string): number => Math.ceil(text.length / 4);
const quote = (facts: readonly Fact[], budgetTokens = FACTS_BUDGET_TOKENS) =>
  quoteFacts(facts, { budgetTokens, countTokens });

/** Runs compactions one after another, each with a summary that has no fact. */
class Chain {
  sheet: FactSheet = { facts: [], earlier: undefined };
  #round = 0;

  compact(build: (session: ConversationBuilder) => void): void {
    const session = new ConversationBuilder(`r${++this.#round}`);
    build(session);
    const previous =
      this.#round > 1 ? { boundary: `b${this.#round - 1}`, ledger: ledgerOf(this.sheet) } : undefined;
    this.sheet = extractFacts(session.entries as readonly Entry[], { previous });
  }

  get reasons(): readonly Fact[] {
    return this.sheet.facts.filter(isReasonFact);
  }
}

const reasonsOf = (build: (session: ConversationBuilder) => void): readonly Fact[] => {
  const chain = new Chain();
  chain.compact(build);
  return chain.reasons;
};

const CAUSES = [
  "cache",
  "clock",
  "proxy",
  "driver",
  "kernel",
  "router",
  "buffer",
  "quota",
  "socket",
  "index",
];
const cause = (round: number): string =>
  `The root cause of failure ${round} was the ${CAUSES[round % CAUSES.length]} of \`service-${round}.ts\`.`;
const choice = (round: number): string =>
  `We decided to keep table_${round} in SQLite because job ${round} runs offline.`;

describe("facts about causes and decisions", () => {
  it("extracts who stated a cause or a decision, and in which message", () => {
    const facts = reasonsOf((session) => {
      session.user("Let's use pnpm, since npm hoists too much.");
      session.assistant("The root cause is a stale lock file in `ci.yml`.");
    });
    expect(facts).toEqual([
      expect.objectContaining({ kind: "decision", by: "user", entryIds: ["r1-1"] }),
      expect.objectContaining({
        kind: "cause",
        by: "assistant",
        causeType: "root-cause",
        entryIds: ["r1-2"],
      }),
    ]);
  });

  it("takes no cause from the output of a tool, from code or from a quotation", () => {
    const facts = reasonsOf((session) => {
      session.user("Why does it fail?");
      session.tool(
        "t1",
        "Bash",
        { command: "cat notes" },
        "The root cause was the missing index on the table.",
      );
      session.assistant(
        "```\nThe root cause was the missing index on the table.\n```\n> The cause was the missing index.",
      );
    });
    expect(facts).toEqual([]);
  });

  it.each([10, 40])(
    "keeps every cause and every decision over %i compactions, each once and with its id",
    (rounds) => {
      const chain = new Chain();
      const ids = new Map<string, string>();
      for (let round = 1; round <= rounds; round++) {
        chain.compact((session) => {
          session.user(`Continue with part ${round}`);
          session.assistant(`${cause(round)} ${choice(round)}`);
        });
        for (const { text, id } of chain.reasons) {
          expect(ids.get(text) ?? id).toBe(id);
          ids.set(text, id);
        }
      }
      const texts = chain.reasons.map(({ text }) => text);
      expect(new Set(texts).size).toBe(texts.length);
      for (let round = 1; round <= rounds; round++) {
        expect(texts).toContain(cause(round));
        expect(texts).toContain(choice(round));
      }
    },
  );

  it("changes nothing in a second compaction of an unchanged conversation", () => {
    const build = (session: ConversationBuilder): void => {
      session.user("Go");
      for (let round = 1; round <= 8; round++) session.assistant(`${cause(round)} ${choice(round)}`);
    };
    const chain = new Chain();
    chain.compact(build);
    const before = chain.reasons;
    chain.compact(() => undefined);
    expect(chain.reasons).toEqual(before);
    const again = new Chain();
    again.compact(build);
    again.compact(build);
    expect(again.reasons.map(({ id, text }) => ({ id, text }))).toEqual(
      before.map(({ id, text }) => ({ id, text })),
    );
  });

  it("drops a belief of an earlier compaction when a later message corrects it", () => {
    const chain = new Chain();
    chain.compact((session) => {
      session.user("Why does the nightly export fail?");
      session.assistant("The nightly export fails because the cache is stale.");
    });
    chain.compact((session) => {
      session.user("Look again");
      session.assistant("I was wrong: the nightly export fails because the clock is stale.");
    });
    expect(chain.reasons.map(({ text, causeType }) => [text, causeType])).toEqual([
      ["I was wrong: the nightly export fails because the clock is stale.", "correction"],
    ]);
  });

  it("records the options of an answered question with the reason for the chosen one", () => {
    const session = new ConversationBuilder("q");
    session.user("Set up the storage");
    const questions = [
      {
        question: "Which database?",
        options: [
          { label: "SQLite", description: "runs offline in the tests" },
          { label: "Postgres", description: "has schemas" },
        ],
      },
    ];
    session.assistant([toolUse("a", "AskUserQuestion", { questions })]);
    session.user([toolResult("a", 'User has answered: "Which database?"="SQLite".')], {
      toolUseResult: { answers: { "Which database?": "SQLite" } },
    });
    const { facts } = extractFacts(session.entries as readonly Entry[]);
    const [answer] = facts.filter(({ kind }) => kind === "decision");
    expect(answer?.text).toBe('Which database? → "SQLite" (runs offline in the tests; not: Postgres)');
    expect(answer?.needles).toEqual(["Which database?", "SQLite", "runs offline in the tests"]);
  });

  it("records the text of the option that a bare number chooses", () => {
    const session = new ConversationBuilder("n");
    session.user("Store the sessions");
    session.assistant(
      "There are two ways:\n1. **Redis**, shared by both servers\n2. A file per user\n\nWhich one?",
    );
    session.user("1");
    const { facts } = extractFacts(session.entries as readonly Entry[]);
    const [answer] = facts.filter(({ kind }) => kind === "decision");
    expect(answer?.text).toBe('Which one? → "1" (Redis, shared by both servers)');
  });
});

describe("quoted causes and decisions", () => {
  it("never presents the assistant's decision as a decision of the user", () => {
    const facts = reasonsOf((session) => {
      session.user("Let's use pnpm, since npm hoists too much.");
      session.assistant("We decided to drop Windows because nobody tests it.");
    });
    const lines = quote(facts).text.split("\n");
    const at = (text: string): number => lines.findIndex((line) => line.includes(text));
    expect(lines[at("npm hoists") - 1]).toBe("Decisions in the user's words:");
    expect(lines[at("npm hoists")]).toBe("- > Let's use pnpm, since npm hoists too much.");
    expect(lines[at("drop Windows") - 1]).toBe("Choices of the ASSISTANT at that time, not of the user:");
  });

  const many = reasonsOf((session) => {
    session.user("Go");
    for (let round = 1; round <= 60; round++) session.assistant(cause(round));
    session.assistant("The retry is capped at five, so that a dead server cannot block the queue.");
  });
  const file: Fact = {
    id: "f",
    kind: "file",
    text: "read /project/a.ts",
    needles: ["/project/a.ts"],
    entryIds: [],
  };

  it("leaves room for other facts when there are very many causes, and drops plain reasons first", () => {
    const { text, quoted, tokens } = quote([...many, file], 1_500);
    expect(tokens).toBeLessThanOrEqual(1_500);
    expect(quoted).toContain(file);
    expect(quoted.filter(isReasonFact).length).toBeGreaterThan(15);
    expect(text).not.toContain("The retry is capped");
  });

  it("quotes at most 1,150 tokens of causes and decisions, and at most 400 of plain reasons", () => {
    const tokensOf = (text: string): number => {
      const lines = text.split("\n").filter((line) => line.startsWith("- "));
      return countTokens(lines.join("\n"));
    };
    const twice = many.flatMap((fact) => [
      fact,
      { ...fact, id: `${fact.id}-2`, text: `${fact.text} Again.`, needles: [`${fact.text} Again.`] },
    ]);
    expect(tokensOf(quote([...twice, file]).text)).toBeLessThanOrEqual(1_150);
    expect(tokensOf(quote([...twice, file]).text)).toBeGreaterThan(800);
    const plain = twice.map((fact): Fact => ({ ...fact, causeType: "reason" }));
    expect(tokensOf(quote([...plain, file]).text)).toBeLessThanOrEqual(400);
  });

  it("finds every cause that it counts as quoted, whatever the budget is", () => {
    for (let budget = 150; budget <= 4_000; budget += 350) {
      const { text, quoted, leftOut, tokens } = quote([...many, file], budget);
      expect(tokens).toBeLessThanOrEqual(budget);
      expect(findFacts(quoted, [text]).size).toBe(quoted.length);
      expect(quoted.length + leftOut.length).toBe(many.length + 1);
    }
  });
});
