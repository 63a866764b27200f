import type { Entry } from "@longhaul/core";
import fc from "fast-check";
import { ConversationBuilder, toolResult, toolUse } from "../support/builders.ts";

/** A session in which a user types while the agent works, and the texts that the agent received. */
export interface QueueSession {
  readonly lines: readonly Entry[];
  /** Texts of the user in the current conversation, in the order in which the agent received them. */
  readonly current: readonly string[];
  /** Texts of the user in the whole session, in the same order. */
  readonly all: readonly string[];
}

/**
 * Ways in which an agent records a received text. The first is for versions before 2.1.90, the second for
 * versions up to 2.1.2xx, and the third for current versions.
 */
const STYLES = ["nothing", "attachment", "attachment-and-content"] as const;
type Style = (typeof STYLES)[number];

type Step =
  | { readonly kind: "type"; readonly text: number }
  | { readonly kind: "notify" | "command" | "take-back" | "progress" | "end-turn" | "picture" }
  | { readonly kind: "work"; readonly calls: number }
  | { readonly kind: "compact"; readonly keeps: boolean };

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("type" as const), text: fc.nat(4) }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("work" as const), calls: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("end-turn" as const, "progress" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("notify" as const, "command" as const, "take-back" as const, "picture" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("compact" as const), keeps: fc.boolean() }) },
);

export const queueSessionArbitrary: fc.Arbitrary<QueueSession> = fc
  .tuple(fc.constantFrom(...STYLES), fc.array(stepArbitrary, { minLength: 1, maxLength: 30 }))
  .map(([style, steps]) => {
    const agent = new QueueingAgent(style);
    for (const step of steps) agent.take(step);
    return { lines: agent.lines, current: agent.current, all: agent.all };
  });

interface Waiting {
  readonly text: string;
  readonly kind: "typed" | "notification" | "command" | "picture";
}

class QueueingAgent {
  readonly lines: Entry[] = [];
  readonly all: string[] = [];
  current: string[] = [];
  readonly #style: Style;
  readonly #builder = new ConversationBuilder("q");
  #queue: Waiting[] = [];
  #clock = 0;
  #calls = 0;
  /** The last line of the conversation. A boundary may keep it. */
  #last: { readonly entry: Entry; readonly text: string | undefined } | undefined;

  constructor(style: Style) {
    this.#style = style;
    this.#say("the first prompt");
  }

  take(step: Step): void {
    switch (step.kind) {
      case "type":
        this.#enqueue({ text: `typed ${step.text}`, kind: "typed" });
        return;
      case "notify":
        this.#enqueue({
          text: `<task-notification>${this.#clock}</task-notification>`,
          kind: "notification",
        });
        return;
      case "command":
        this.#enqueue({ text: "/model opus", kind: "command" });
        return;
      case "picture":
        // Versions of the style `nothing` do not record pictures either.
        if (this.#style !== "nothing") this.#enqueue({ text: `see picture ${this.#clock}`, kind: "picture" });
        return;
      case "take-back":
        this.#takeBack();
        return;
      case "progress":
        this.#write(() => this.#builder.push({ ...this.#builder.link(), type: "progress", data: {} }));
        return;
      case "work":
        this.#work(step.calls);
        return;
      case "end-turn":
        this.#endTurn();
        return;
      case "compact":
        this.#compact(step.keeps);
        return;
    }
  }

  #write<T extends Entry>(make: () => T): T {
    const entry = make();
    this.lines.push(entry);
    return entry;
  }

  #queueLine(operation: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const timestamp = new Date(Date.UTC(2026, 1, 1, 0, 0, ++this.#clock)).toISOString();
    const line = { type: "queue-operation", operation, timestamp, sessionId: "session-1", ...fields };
    this.lines.push(line as unknown as Entry);
  }

  #enqueue(waiting: Waiting): void {
    this.#queue.push(waiting);
    this.#queueLine("enqueue", waiting.kind === "picture" ? {} : { content: waiting.text });
  }

  #heard(text: string): void {
    this.current.push(text);
    this.all.push(text);
  }

  #say(text: string): void {
    this.#last = { entry: this.#write(() => this.#builder.user(text)), text };
    this.#heard(text);
  }

  #work(calls: number): void {
    const id = `msg-${++this.#calls}`;
    const ids = Array.from({ length: calls }, (_, nth) => `${id}-${nth}`);
    for (const call of ids) this.#write(() => this.#builder.assistant([toolUse(call, "Bash", {})], { id }));
    for (const call of ids) this.#write(() => this.#builder.user([toolResult(call, "done")]));
    this.#absorb();
    const entry = this.#write(() => this.#builder.assistant("and on", { id: `${id}-next` }));
    this.#last = { entry, text: undefined };
  }

  /** Delivers everything except slash commands at the next tool boundary. */
  #absorb(): void {
    const taken = this.#queue.filter(({ kind }) => kind !== "command");
    this.#queue = this.#queue.filter(({ kind }) => kind === "command");
    if (this.#style === "nothing") for (const one of taken) this.#removeLine(one);
    else {
      // Writes the lines in the order of real files: the first attachment, all removals, the other
      // attachments.
      for (const one of taken.slice(0, 1)) this.#attach(one);
      for (const one of taken) this.#removeLine(one);
      for (const one of taken.slice(1)) this.#attach(one);
    }
    for (const { text, kind } of taken) if (kind !== "notification") this.#heard(text);
  }

  #removeLine({ text }: Waiting): void {
    const hasContent = this.#style === "attachment-and-content";
    this.#queueLine("remove", hasContent ? { content: text, reason: "absorbed_mid_turn" } : {});
  }

  #attach({ text, kind }: Waiting): void {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    const prompt = kind === "picture" ? [{ type: "text", text }, image] : text;
    this.#write(() => this.#builder.attachment({ type: "queued_command", prompt }));
  }

  #takeBack(): void {
    if (this.#queue.length === 0) return;
    this.#queue = [];
    this.#queueLine("popAll");
  }

  /**
   * Delivers the oldest message. If no message waits, delivers a notification instead. A message comes first
   * even if the notification is older.
   */
  #endTurn(): void {
    const next = this.#queue.find(({ kind }) => kind !== "notification") ?? this.#queue[0];
    if (next === undefined) return;
    this.#queue = this.#queue.filter((one) => one !== next);
    this.#queueLine("dequeue");
    if (next.kind === "command") {
      this.#write(() =>
        this.#builder.user("<command-name>/model</command-name><command-args>opus</command-args>"),
      );
      return;
    }
    if (next.kind === "notification") this.#write(() => this.#builder.user(next.text));
    else this.#say(next.text);
    this.#write(() => this.#builder.assistant("answered", { id: `msg-${++this.#calls}` }));
  }

  #compact(keeps: boolean): void {
    const kept = keeps ? this.#last : undefined;
    const uuid = kept?.entry.uuid;
    // The summary will be the second line that the builder creates from here.
    const at = this.#builder.entries.length + 2;
    const segment =
      uuid === undefined
        ? {}
        : { preservedSegment: { headUuid: uuid, anchorUuid: `q-${at}`, tailUuid: uuid } };
    this.#write(() => this.#builder.boundary(segment));
    this.#write(() => this.#builder.summary("what was said"));
    this.current = kept?.text === undefined ? [] : [kept.text];
    this.#last = undefined;
  }
}
