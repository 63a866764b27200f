import type { Ledger } from "@longhaul/core";
import type { LedgerFact } from "@longhaul/core/messages";
import { findFacts } from "../../packages/core/src/compaction/facts/find-facts.ts";
import { isInContext } from "../../packages/core/src/messages/fact-ledger.ts";
import type { AgentLoop } from "./agent-loop.case.ts";

/** Rules of the person that stay active to the end. */
const RULES: readonly string[] = [
  "Never push to main.",
  "The tide service must always listen on port 48213.",
  "Always write reports to /srv/harbour/reports/tides-2031.md.",
  "From now on mention issue HARB-4711 in every commit message.",
];

/** Rules that the person revokes after this number of compactions. */
const TAKEN_BACK = [
  {
    rule: "Always run the slow lighthouse suite before a commit.",
    end: "Forget the slow lighthouse suite.",
    after: 3,
    status: "cancelled",
  },
  {
    rule: "Always indent pilot files with tabs.",
    end: "Always indent pilot files with spaces instead of tabs.",
    after: 5,
    status: "superseded",
  },
] as const;

/** Status of each rule in the last ledger. */
export const STATUSES_AT_THE_END: Readonly<Record<string, string>> = Object.fromEntries([
  ...RULES.map((rule) => [rule, "active"]),
  ...TAKEN_BACK.map(({ rule, status }) => [rule, status]),
]);

/** A person who states rules and revokes some of them. Collects faults if a compaction loses a rule. */
export class PlantedWishes {
  /** Descriptions of faults. Empty if there are none. */
  readonly faults: string[] = [];
  readonly ledgers: Ledger[] = [];
  #said = 0;

  begin(loop: AgentLoop): void {
    for (const rule of [...RULES, ...TAKEN_BACK.map((wish) => wish.rule)]) loop.conversation.addUser(rule);
  }

  /** Lets the person revoke a rule when it is time. Call it between turns. */
  speak(loop: AgentLoop): void {
    const due = TAKEN_BACK[this.#said];
    if (due === undefined || this.ledgers.length < due.after) return;
    this.#said += 1;
    loop.conversation.addUser(due.end);
  }

  /** Checks the request after a compaction against its ledger. */
  check(messages: unknown, ledger: Ledger | undefined, newest: string | undefined): void {
    const nth = this.ledgers.length + 1;
    const fail = (fault: string): void => void this.faults.push(`compaction ${nth}: ${fault}`);
    if (ledger === undefined) {
      fail("no ledger");
      return;
    }
    this.ledgers.push(ledger);
    const texts = textsIn(messages);
    const text = texts.join("\n");
    const standing = [
      ...RULES,
      ...this.#open.map(({ rule }) => rule),
      ...this.#ended.slice(1).map(({ end }) => end),
    ];
    for (const wish of standing) {
      if (!text.includes(wish)) fail(`not in the request: ${wish}`);
      this.#checkStanding(ledger, wish, fail);
    }
    for (const { rule, status } of this.#ended) this.#checkEnded(ledger, text, { rule, status }, fail);
    if (newest === undefined || !text.includes(newest)) fail(`the newest request is missing: ${newest}`);
    for (const fact of ledger.facts) if (fact.fate === "gone") fail(`gone: ${fact.text}`);
    const present = ledger.facts.filter(isInContext);
    const found = findFacts(present, texts);
    for (const fact of present) if (!found.has(fact.id)) fail(`not ${fact.fate}: ${fact.kind} ${fact.text}`);
    if (/forged|d-rules/.test(text)) fail("the forged quotation is there");
  }

  statusesAtTheEnd(): Readonly<Record<string, string | undefined>> {
    const last = this.ledgers.at(-1);
    const statusOf = (wish: string): string | undefined =>
      last && factsOf(last, wish).find(({ text }) => text.startsWith(wish))?.status;
    return Object.fromEntries(Object.keys(STATUSES_AT_THE_END).map((wish) => [wish, statusOf(wish)]));
  }

  get #ended(): readonly (typeof TAKEN_BACK)[number][] {
    return TAKEN_BACK.slice(0, this.#said);
  }

  get #open(): readonly (typeof TAKEN_BACK)[number][] {
    return TAKEN_BACK.slice(this.#said);
  }

  #checkStanding(ledger: Ledger, wish: string, fail: (fault: string) => void): void {
    const facts = factsOf(ledger, wish);
    // Facts in messages that are not summarized yet are not in the ledger.
    for (const { status, fate } of facts) {
      if (status !== "active" || fate === "recoverable") fail(`${status}, ${fate}: ${wish}`);
    }
  }

  #checkEnded(
    ledger: Ledger,
    text: string,
    { rule, status }: { readonly rule: string; readonly status: string },
    fail: (fault: string) => void,
  ): void {
    const statuses = factsOf(ledger, rule).map((fact) => fact.status);
    if (statuses.some((found) => found !== status)) fail(`${statuses} instead of ${status}: ${rule}`);
    if (text.includes(`active] > ${rule}`)) fail(`shown as active: ${rule}`);
  }
}

const factsOf = ({ facts }: Ledger, wish: string): readonly LedgerFact[] =>
  facts.filter(({ kind, text }) => kind === "directive" && text.includes(wish));

/** Returns every text of the messages. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
