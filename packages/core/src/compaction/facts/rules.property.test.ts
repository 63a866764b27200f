import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { ledgerOf } from "../../../../../test/support/sheet-ledger.ts";
import type { Entry } from "../../messages/entry.ts";
import type { Fact } from "../../messages/fact-ledger.ts";
import { summarize } from "../summary/builtin/summarize.ts";
import { continuationMessage } from "../summary/summary-message.ts";
import { extractFacts, type FactSheet } from "./extract-facts.ts";
import { findFacts } from "./find-facts.ts";
import { FACTS_BUDGET_TOKENS, quoteFacts } from "./quote-facts.ts";

const countTokens = (text: string): number => Math.ceil(text.length / 4);

const RULES = [
  "Avoid code duplication.",
  "Do not store personal data.",
  "Never push to main.",
  "Always run the tests before you commit.",
  "Prefer composition over inheritance.",
  "Use pnpm, not npm.",
  "Make sure that every export has a comment.",
  "From now on answer in French.",
  "Keep the public names stable.",
  "No new dependencies.",
  "Ändere das Schema nicht.",
  "N'utilise pas de classes.",
  "Всегда пиши тесты.",
  "不要使用全局变量。",
];
const REQUESTS = [
  "Add a login page.",
  "Fix the failing upload of large files.",
  "Write the changelog for the release.",
  "Can you rename the settings module?",
  "Review the error handling of the worker.",
  "skip the second point and do the rest",
  "stop the server and restart it",
];
const TALK = [
  "thanks, works",
  "continue",
  "yes",
  "why is it slow?",
  "never mind",
  "looks good",
  "Forget the login page.",
];
const REPLIES = [
  "Done. All tasks are complete.",
  "I have added the page and fixed the upload.",
  "Code duplication is avoided, personal data is done, and everything is finished.",
  "I could not finish it: the server is down.",
  "Shall I go on?",
];

/** No later text finishes a statement, and it is never `done`. */
const STATEMENT = "my account name is orange-7";

interface Turn {
  readonly message: string;
  readonly reply: string;
  readonly worked: boolean;
}

const turn = (): fc.Arbitrary<Turn> =>
  fc.record({
    message: fc.constantFrom(...REQUESTS, ...TALK),
    reply: fc.constantFrom(...REPLIES),
    worked: fc.boolean(),
  });

/** A rule alone, or inside a request. */
const planted = (): fc.Arbitrary<{ readonly rule: string; readonly message: string }> =>
  fc
    .record({ rule: fc.constantFrom(...RULES), request: fc.option(fc.constantFrom(...REQUESTS.slice(0, 5))) })
    .map(({ rule, request }) => ({ rule, message: request === null ? rule : `${request} ${rule}` }));

function addTurn(session: ConversationBuilder, { message, reply, worked }: Turn, nth: number): void {
  session.user(message);
  if (worked) session.tool(`t${nth}`, "Write", { file_path: `/project/${nth}.ts`, content: "x" }, "ok");
  session.assistant(reply);
}

/** Chains compactions. The first turns plant the rules, and each compaction gets one more turn. */
function chained(
  rules: readonly { readonly message: string }[],
  turns: readonly Turn[],
  compactions: number,
): FactSheet & { readonly summary: string } {
  let sheet: FactSheet = { facts: [], earlier: undefined };
  let summary = "";
  for (let round = 0; round < compactions; round++) {
    const session = new ConversationBuilder(`r${round}`);
    if (round > 0) session.summary(continuationMessage({ summary, keptRecent: true, trigger: "auto" }));
    if (round === 0) {
      rules.forEach(({ message }, nth) => {
        addTurn(session, { message, reply: "Understood.", worked: false }, 1_000 + nth);
      });
    }
    const next = turns[round % turns.length];
    if (next !== undefined) addTurn(session, next, round);
    const entries = session.entries as readonly Entry[];
    const previous = round === 0 ? undefined : { boundary: `b${round}`, ledger: ledgerOf(sheet) };
    sheet = extractFacts(entries, { previous });
    const { text } = summarize(entries, { countTokens, budgetTokens: 3_000 });
    const found = findFacts(sheet.facts, [text]);
    const missing = sheet.facts.filter(({ id }) => !found.has(id));
    summary = `${text}\n\n${quoteFacts(missing, { budgetTokens: FACTS_BUDGET_TOKENS, countTokens }).text}`;
  }
  return { ...sheet, summary };
}

const statesRule =
  (rule: string) =>
  ({ kind, text, status, type }: Fact): boolean =>
    kind === "directive" &&
    status === "active" &&
    text.includes(rule) &&
    (type === "rule" || type === "request");

describe("rules over many compactions", () => {
  it.each([10, 40])("keeps every rule of a random session active over %i compactions", (compactions) => {
    fc.assert(
      fc.property(
        fc.array(planted(), { minLength: 1, maxLength: 5 }),
        fc.array(turn(), { minLength: 1, maxLength: 10 }),
        (rules, turns) => {
          // A "never mind" right after a rule withdraws it, so another request comes first.
          const course = [
            { message: "Add a footer.", reply: "Done.", worked: true },
            { message: STATEMENT, reply: "Done. All tasks are complete.", worked: false },
            ...turns,
          ];
          const { facts, summary } = chained(rules, course, compactions);
          for (const { rule } of rules) {
            expect(facts.some(statesRule(rule)), rule).toBe(true);
            expect(summary).toContain(rule);
          }
          const statements = facts.filter(({ text }) => text === STATEMENT);
          expect(statements.length).toBeGreaterThan(0);
          expect(statements.filter(({ status }) => status !== "active")).toEqual([]);
          for (const { type, status } of facts.filter(({ kind }) => kind === "directive")) {
            if (status === "done") expect(type).toBe("request");
            if (status === "answered") expect(type).toBe("question");
          }
        },
      ),
      { numRuns: compactions === 10 ? 60 : 20 },
    );
  });
});
