import { randomUUID } from "node:crypto";
import type { Entry } from "@longhaul/core";
import { findModel, LonghaulError } from "@longhaul/core";
import type { CompactionPorts } from "@longhaul/core/compaction";
import { withClearedResults } from "@longhaul/core/messages";
import { snip } from "@longhaul/core/modules";
import { flatten } from "@longhaul/core/request";
import type { Session } from "@longhaul/sessions";
import {
  type CompactSessionOptions,
  clearSession,
  compactSession,
  loadSession,
  openTranscript,
  undoSession,
  writeClearing,
  writeCompaction,
  writeNewSession,
  writeUndo,
} from "@longhaul/sessions";
import fc from "fast-check";
import { expect } from "vitest";
import { soundCuts } from "../../packages/core/src/messages/pairs.ts";
import { withoutThinkingFrom } from "../../packages/core/src/messages/without-thinking.ts";
import { commitSpans, linesOf } from "../../packages/core/src/modules/collapse/commit.ts";
import { expandableSpans, expandSpans } from "../../packages/core/src/modules/collapse/expand.ts";
import { apiRuleViolations } from "../support/api-rules.ts";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../support/builders.ts";

/** A possible operation on a session. */
export interface LifeStep {
  readonly do: (typeof KINDS)[number];
  /** Position of the cut, as a share of the conversation. */
  readonly at: number;
  readonly count: number;
}

const KINDS = [
  "whole",
  "from",
  "upTo",
  "notes",
  "clear",
  "snip",
  "collapse",
  "expand",
  "empty-results",
  "talk",
  "undo",
  "redo",
] as const;

export const step: fc.Arbitrary<LifeStep> = fc.record({
  do: fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...KINDS) },
    { weight: 1, arbitrary: fc.constantFrom("talk" as const, "undo" as const, "redo" as const) },
  ),
  at: fc.double({ min: 0, max: 0.999, noNaN: true }),
  count: fc.integer({ min: 1, max: 3 }),
});

/**
 * State before a step or an undo. It contains the shown entries, the steps that could be undone, and the
 * entries that were added later.
 */
interface Past {
  readonly before: readonly Entry[];
  readonly pasts: readonly Past[];
  readonly since: readonly Entry[];
}

export interface LifeOptions {
  readonly version: string | undefined;
  readonly model: string;
}

const REFUSALS = [
  "not-enough-messages",
  "compaction-ineffective",
  "nothing-to-clear",
  "clearing-ineffective",
  "notes-not-usable",
];

/** A session in a file, and a simple model of its expected state. */
export class SessionLife {
  readonly #path: string;
  readonly #options: LifeOptions;
  readonly #ports: CompactionPorts;
  /** Time of the clock, which advances with every use. */
  #time = Date.UTC(2026, 6, 1);
  #pasts: readonly Past[] = [];
  #left: readonly Past[] = [];
  #expected: readonly Entry[] | undefined;
  #said = 0;

  private constructor(path: string, options: LifeOptions) {
    this.#path = path;
    this.#options = options;
    this.#ports = { now: () => new Date(++this.#time), newUuid: randomUUID };
  }

  static async begin(path: string, options: LifeOptions): Promise<SessionLife> {
    const life = new SessionLife(path, options);
    await writeNewSession(path, life.#turns(6));
    return life;
  }

  async take(next: LifeStep): Promise<void> {
    this.#expected = undefined;
    const session = await loadSession(this.#path);
    if (next.do === "talk") await this.#talk(session, next.count);
    else if (next.do === "empty-results") await this.#emptyResults(session, next.count);
    else if (next.do === "undo" || next.do === "redo") await this.#undoOrRedo(session, next.do === "redo");
    else await this.#change(session, next);
  }

  /** Loads the session, and checks that its messages are valid and that they are the expected ones. */
  async expectAsExpected(): Promise<Session> {
    const session = await loadSession(this.#path);
    const messages = flatten(shownOf(session));
    expect(apiRuleViolations(messages)).toEqual([]);
    if (this.#expected !== undefined)
      expect(JSON.stringify(messages)).toBe(JSON.stringify(flatten(this.#expected)));
    return session;
  }

  async #undoOrRedo(session: Session, isRedo: boolean): Promise<void> {
    const found = isRedo ? this.#left.at(-1) : this.#pasts.at(-1);
    if (found === undefined) {
      const code = isRedo ? "nothing-to-redo" : "nothing-to-undo";
      expect(() => undoSession(session, { redo: isRedo })).toThrow(expect.objectContaining({ code }));
      return;
    }
    const left = { before: shownOf(session), since: [], pasts: this.#pasts };
    await writeUndo(undoSession(session, { redo: isRedo }), { mode: "in-place" }, this.#ports);
    this.#expected = [...found.before, ...this.#asCarried(found.since)];
    this.#left = isRedo ? this.#left.slice(0, -1) : [...this.#left, left];
    this.#pasts = found.pasts.map((past) => ({ ...past, since: [...past.since, ...found.since] }));
  }

  #asCarried(since: readonly Entry[]): readonly Entry[] {
    return findModel(this.#options.model).bindsThinking ? withoutThinkingFrom(since, 0).entries : since;
  }

  async #change(session: Session, next: LifeStep): Promise<void> {
    const before = shownOf(session);
    const isChanged = await this.#carryOut(session, next).catch((error: unknown) => {
      if (!(error instanceof LonghaulError)) throw error;
      expect(REFUSALS).toContain(error.code);
      return false;
    });
    if (!isChanged) return;
    this.#pasts = [...this.#pasts, { before, pasts: this.#pasts, since: [] }];
    this.#left = [];
  }

  async #carryOut(session: Session, next: LifeStep): Promise<boolean> {
    const ports = this.#ports;
    if (next.do === "snip") return this.#append(snipLines(session, next, this.#marking(session)));
    if (next.do === "collapse") return this.#append(spanLines(session, next, this.#marking(session)));
    if (next.do === "expand") return this.#append(expandLines(session, this.#marking(session)));
    if (next.do === "clear") {
      await writeClearing(clearSession(session, { keepNewest: next.count }), { mode: "in-place" }, ports);
      return true;
    }
    const cut = Math.floor(next.at * session.conversation.length);
    const parts: Readonly<Record<string, CompactSessionOptions>> = {
      whole: { keepRecentTokens: next.count * 700 },
      from: { from: cut },
      upTo: { upTo: cut },
      notes: {
        fromNotes: {
          text: "# Current State\n_now_\n\nIt goes well.",
          keep: { leastTokens: 500, leastMessages: 2 },
        },
      },
    };
    const result = await compactSession(session, { ...parts[next.do], force: true, ports });
    await writeCompaction(result, { mode: "in-place" }, ports);
    return true;
  }

  #marking({ leafUuid, model }: Session): Parameters<typeof commitSpans>[2] {
    const bindsThinking = findModel(model).bindsThinking === true;
    return { ports: this.#ports, tokensOf: () => 1, leafUuid, bindsThinking };
  }

  async #append(lines: readonly Entry[]): Promise<boolean> {
    const writer = await openTranscript(this.#path);
    await writer.append(lines);
    await writer.close();
    return lines.length > 0;
  }

  async #talk({ leafUuid }: Session, turns: number): Promise<void> {
    const [first, ...rest] = this.#turns(turns);
    const said = [{ ...first, parentUuid: leafUuid ?? null } as Entry, ...rest];
    await this.#append(said);
    this.#pasts = this.#pasts.map((past) => ({ ...past, since: [...past.since, ...said] }));
    this.#left = this.#left.map((left) => ({ ...left, since: [...left.since, ...said] }));
  }

  /**
   * Clears results. Clearing is not a step. If results came after a step, they stay cleared when that step is
   * undone.
   */
  async #emptyResults(session: Session, count: number): Promise<void> {
    const ids = shownOf(session)
      .flatMap((entry) =>
        entry.type === "user" && Array.isArray(entry.message.content) ? entry.message.content : [],
      )
      .flatMap((block) => (block.type === "tool_result" ? block.tool_use_id : []))
      .slice(-count);
    const { leafUuid, model } = session;
    const bindsThinking = findModel(model).bindsThinking === true;
    const link = {
      uuid: randomUUID(),
      parentUuid: leafUuid ?? null,
      timestamp: this.#ports.now().toISOString(),
    };
    const microcompactMetadata = { compactedToolIds: ids, longhaul: { bindsThinking } };
    await this.#append([
      { ...link, ...this.#fields(), type: "system", subtype: "microcompact_boundary", microcompactMetadata },
    ]);
    const emptied = <T extends Past>(past: T): T => ({
      ...past,
      since: withClearedResults(past.since, new Set(ids)),
    });
    this.#pasts = this.#pasts.map(emptied);
    this.#left = this.#left.map(emptied);
  }

  #fields(): { readonly version?: string } {
    return this.#options.version === undefined ? {} : { version: this.#options.version };
  }

  /** Creates turns with thinking and parallel calls. One result is not in the chain of parents. */
  #turns(count: number): readonly Entry[] {
    const c = new ConversationBuilder(`s${++this.#said}-${randomUUID().slice(0, 8)}`);
    for (let turn = 0; turn < count; turn++) {
      const name = `${this.#said}-${turn}`;
      c.user(`request ${name} ${"word ".repeat(20)}`);
      const id = `msg-${name}`;
      c.assistant([thinking(`thought ${name}`)], { id });
      const first = c.assistant([toolUse(`a-${name}`, "Read", { file_path: "/x" })], { id });
      const second = c.assistant([toolUse(`b-${name}`, "Bash", { command: "ls" })], { id });
      c.user([toolResult(`a-${name}`, `result a ${name} ${"word ".repeat(300)}`)], {
        parentUuid: first.uuid,
      });
      c.user([toolResult(`b-${name}`, `result b ${name}`)], { parentUuid: second.uuid });
      c.assistant([thinking(`afterthought ${name}`), { type: "text", text: `done ${name}` }]);
    }
    const { model } = this.#options;
    return c.entries.map((entry) => {
      const message = entry.type === "assistant" ? { message: { ...entry.message, model } } : {};
      return { ...entry, ...message, ...this.#fields(), timestamp: this.#ports.now().toISOString() } as Entry;
    });
  }
}

type Marking = Parameters<typeof commitSpans>[2];

const shownOf = ({ conversation, clearedToolUseIds }: Session): readonly Entry[] =>
  withClearedResults(conversation, clearedToolUseIds);

/**
 * Creates the lines that the engine writes for a snip: the markers, and a last line. The next line of the
 * session has this last line as its parent.
 */
function snipLines(session: Session, { at, count }: LifeStep, marking: Marking): readonly Entry[] {
  const shown = shownOf(session);
  const from = Math.floor(at * shown.length);
  const to = Math.min(shown.length - 1, from + 2 * count);
  const [first, last] = [shown[from]?.uuid, shown[to]?.uuid];
  if (first === undefined || last === undefined) return [];
  const { markers } = snip(shown, { from: first, to: last }, marking);
  const parentUuid = markers.at(-1)?.uuid;
  if (parentUuid === undefined) return [];
  const end = { ...markers.at(-1), snipped: undefined, message: undefined, isMeta: undefined };
  const fields = {
    uuid: randomUUID(),
    parentUuid,
    type: "system",
    subtype: "informational",
    content: "removed",
  };
  return [...markers, JSON.parse(JSON.stringify({ ...end, ...fields })) as Entry];
}

function spanLines(session: Session, { at, count }: LifeStep, marking: Marking): readonly Entry[] {
  const shown = shownOf(session);
  const cuts = soundCuts(shown).flatMap((isSound, place) => (isSound ? [place] : []));
  const nth = Math.floor(at * cuts.length);
  const staged = [nth, nth + count].map((from) => {
    const uuids = shown.slice(cuts[from], cuts[from + count]).flatMap(({ uuid }) => uuid ?? []);
    return { spanId: randomUUID(), uuids, messages: uuids.length, text: `what ${uuids.length} said` };
  });
  return linesOf(
    commitSpans(
      shown,
      staged.filter(({ uuids }) => uuids.length > 0),
      marking,
    ),
  );
}

function expandLines(session: Session, marking: Marking): readonly Entry[] {
  const shown = shownOf(session);
  const [span] = expandableSpans(shown);
  if (span === undefined) return [];
  const { mark } = expandSpans(shown, [span.collapsed.spanId], session.entries, marking);
  return mark === undefined ? [] : [mark];
}
