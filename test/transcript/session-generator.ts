import type { ContentBlock, Entry, MessageContent } from "@longhaul/core";
import type { CompactBoundaryEntry, CompactMetadata, EntryLink } from "@longhaul/core/messages";
import fc from "fast-check";
import { toolResult, toolUse } from "../support/builders.ts";

/** Lines of a generated agent session, with the true context that a reader must find again. */
export interface GeneratedSession {
  readonly lines: readonly Entry[];
  readonly context: readonly Entry[];
  /** The context right before each compaction. */
  readonly compactions: readonly Compaction[];
}

export interface Compaction {
  readonly boundary: CompactBoundaryEntry;
  readonly before: readonly Entry[];
}

type Step =
  | { readonly kind: "prompt" | "progress" | "attachment" | "sidechain" | "title" | "microcompact" }
  | { readonly kind: "response"; readonly calls: number; readonly layout: number; readonly order: number }
  | { readonly kind: "rewind"; readonly to: number }
  | {
      readonly kind: "compact";
      readonly keep: "none" | "newest" | "oldest";
      readonly at: number;
      readonly hang: boolean;
      /** How the boundary names the kept lines. */
      readonly names: "ends" | "every-line";
      /** Attachments between the boundary and the summary. */
      readonly attachments: number;
    };

type CompactStep = Extract<Step, { readonly kind: "compact" }>;

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("prompt" as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("response" as const),
      calls: fc.nat(4),
      layout: fc.nat(2),
      order: fc.nat(100),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "progress" as const,
        "attachment" as const,
        "sidechain" as const,
        "title" as const,
        "microcompact" as const,
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rewind" as const), to: fc.nat(1000) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("compact" as const),
      keep: fc.constantFrom("none" as const, "newest" as const, "oldest" as const),
      at: fc.nat(1000),
      hang: fc.boolean(),
      names: fc.constantFrom("ends" as const, "every-line" as const),
      attachments: fc.nat(2),
    }),
  },
);

const stepsArbitrary = fc.array(stepArbitrary, { minLength: 1, maxLength: 40 });

export const sessionArbitrary: fc.Arbitrary<GeneratedSession> = stepsArbitrary.map(playedBack);

/**
 * Generates sessions as current versions write them. The boundary names every kept line. If the kept messages
 * precede the summary, the next line follows the summary.
 */
export const currentSessionArbitrary: fc.Arbitrary<GeneratedSession> = stepsArbitrary.map((steps) =>
  playedBack(
    steps.map((step) =>
      step.kind === "compact"
        ? { ...step, names: "every-line" as const, hang: step.hang && step.keep === "newest" }
        : step,
    ),
  ),
);

function playedBack(steps: readonly Step[]): GeneratedSession {
  const agent = new PretendedAgent();
  agent.take({ kind: "prompt" });
  for (const step of steps) agent.take(step);
  return { lines: agent.lines, context: agent.context, compactions: agent.compactions };
}

/** Plays an agent that writes its session the way Claude Code does. */
class PretendedAgent {
  readonly lines: Entry[] = [];
  context: Entry[] = [];
  readonly compactions: Compaction[] = [];
  #tip: string | null = null;
  #count = 0;
  /** Positions in the context at which a round or a prompt begins. A cut elsewhere would split a round. */
  #starts: number[] = [];
  /**
   * Position of the first kept message. The file does not show a rewind to this message, because its link to
   * the summary exists only in memory.
   */
  #noRewindAt = -1;

  take(step: Step): void {
    switch (step.kind) {
      case "prompt":
        this.#prompt();
        return;
      case "response":
        this.#response(step.calls, step.layout, step.order);
        return;
      case "rewind":
        this.#rewind(step.to);
        return;
      case "compact":
        this.#compact(step);
        return;
      case "progress":
        this.#write({ ...this.#link(), type: "progress", data: {} }, false);
        return;
      case "attachment":
        this.#starts.push(this.context.length);
        this.#write({ ...this.#link(), type: "attachment", attachment: { type: "task_reminder" } });
        return;
      case "microcompact":
        this.#starts.push(this.context.length);
        this.#write({
          ...this.#link(),
          type: "system",
          subtype: "microcompact_boundary",
          microcompactMetadata: { compactedToolIds: [`t${this.#count}`] },
        });
        return;
      case "sidechain":
        this.lines.push(this.#user("elsewhere", { ...this.#link(null), isSidechain: true }));
        return;
      case "title":
        this.lines.push({ type: "custom-title" as "(any other)", customTitle: `title ${this.#count++}` });
        return;
    }
  }

  #link(parentUuid: string | null = this.#tip): EntryLink {
    const uuid = `uuid-${++this.#count}`;
    return {
      uuid,
      parentUuid,
      timestamp: new Date(this.#count * 1000).toISOString(),
      sessionId: "generated",
    };
  }

  #write(entry: Entry, isInContext = true): Entry {
    this.lines.push(entry);
    if (isInContext) this.context.push(entry);
    this.#tip = entry.uuid ?? null;
    return entry;
  }

  #user(content: MessageContent, link: EntryLink): Entry {
    return { ...link, type: "user", message: { role: "user", content } };
  }

  #assistant(id: string, block: ContentBlock, link: EntryLink): Entry {
    return {
      ...link,
      type: "assistant",
      message: { id, role: "assistant", content: [block] },
      requestId: `r${id}`,
    };
  }

  #prompt(): void {
    this.#starts.push(this.context.length);
    this.#write(this.#user(`says "compact_boundary" ${this.#count}`, this.#link()));
  }

  #response(calls: number, layout: number, order: number): void {
    this.#starts.push(this.context.length);
    const id = `msg${++this.#count}`;
    this.#write(this.#assistant(id, { type: "text", text: `answer ${id}` }, this.#link()));
    const ids = Array.from({ length: calls }, (_, nth) => `${id}-call${nth}`);
    if (layout === 0) this.#contiguous(id, ids, order);
    else this.#interleaved(id, ids, layout === 1);
  }

  #contiguous(messageId: string, ids: readonly string[], order: number): void {
    const parents = ids.map((id) =>
      this.#write(this.#assistant(messageId, toolUse(id, "Read", {}), this.#link())),
    );
    const shuffled = ids.map((id, nth) => ({ id, parent: parents[nth]?.uuid ?? null }));
    for (let turns = shuffled.length === 0 ? 0 : order % shuffled.length; turns > 0; turns--) {
      const first = shuffled.shift();
      if (first !== undefined) shuffled.push(first);
    }
    if (order % 2 === 1) shuffled.reverse();
    for (const { id, parent } of shuffled) {
      this.#write(this.#user([toolResult(id, `result of ${id}`)], this.#link(parent)));
    }
  }

  #interleaved(messageId: string, ids: readonly string[], onSibling: boolean): void {
    let previousCall = this.#tip;
    for (const id of ids) {
      const parent = onSibling ? previousCall : this.#tip;
      const call = this.#write(this.#assistant(messageId, toolUse(id, "Bash", {}), this.#link(parent)));
      previousCall = call.uuid ?? null;
      this.#write(this.#user([toolResult(id, `result of ${id}`)], this.#link(previousCall)));
    }
  }

  #rewind(to: number): void {
    const places = this.#starts.filter((place) => place !== this.#noRewindAt && place < this.context.length);
    const place = places[to % Math.max(1, places.length)];
    if (place === undefined) return;
    this.context = this.context.slice(0, place);
    this.#starts = this.#starts.filter((start) => start < place);
    this.#tip = this.context.at(-1)?.uuid ?? null;
    this.#prompt();
  }

  #compact({ keep, at, hang, names, attachments }: CompactStep): void {
    if (this.context.length === 0) return;
    const first = this.context[0]?.type === "system" && this.#isBoundary(this.context[0]) ? 1 : 0;
    const cuts = [...this.#starts.filter((start) => start > first), this.context.length];
    const cut = cuts[at % cuts.length] ?? this.context.length;
    const kept =
      keep === "newest" ? this.context.slice(cut) : keep === "oldest" ? this.context.slice(first, cut) : [];
    const tipBefore = this.#tip;
    const boundaryLink = this.#link(null);
    const injected = this.#injected(boundaryLink.uuid, attachments);
    const summaryLink = this.#link(injected.at(-1)?.uuid ?? boundaryLink.uuid);
    const anchorUuid = keep === "newest" ? summaryLink.uuid : boundaryLink.uuid;
    const boundary: CompactBoundaryEntry = {
      ...boundaryLink,
      type: "system",
      subtype: "compact_boundary",
      content: "Conversation compacted",
      logicalParentUuid: tipBefore,
      compactMetadata: { trigger: "auto", preTokens: 1, ...preserved(kept, anchorUuid, names) },
    };
    const summary: Entry = {
      ...summaryLink,
      type: "user",
      message: { role: "user", content: "summary" },
      isCompactSummary: true,
    };
    this.compactions.push({ boundary, before: this.context });
    this.lines.push(boundary, ...injected, summary);
    const top = [boundary, ...injected, summary];
    this.context = keep === "oldest" ? [boundary, ...kept, ...injected, summary] : [...top, ...kept];
    this.#starts =
      keep === "newest" ? this.#starts.filter((start) => start >= cut).map((s) => s - cut + top.length) : [];
    this.#noRewindAt = keep === "newest" && kept.length > 0 ? top.length : -1;
    // The next line follows the newest kept message or the summary. Both occur in real files.
    const tail = kept.at(-1)?.uuid;
    this.#tip = tail !== undefined && hang ? tail : summaryLink.uuid;
  }

  /**
   * Returns attachments that Claude Code writes between the boundary and the summary of an automatic
   * compaction.
   */
  #injected(boundaryUuid: string, count: number): readonly Entry[] {
    const lines: Entry[] = [];
    for (const type of ["session_context", "date"].slice(0, count)) {
      const link = this.#link(lines.at(-1)?.uuid ?? boundaryUuid);
      lines.push({ ...link, type: "attachment", attachment: { type } });
    }
    return lines;
  }

  #isBoundary(entry: Entry): boolean {
    return entry.type === "system" && entry.subtype === "compact_boundary";
  }
}

function preserved(
  kept: readonly Entry[],
  anchorUuid: string,
  names: CompactStep["names"],
): Pick<CompactMetadata, "preservedSegment" | "preservedMessages"> {
  const uuids = kept.flatMap(({ uuid }) => uuid ?? []);
  const [headUuid, tailUuid] = [uuids[0], uuids.at(-1)];
  if (headUuid === undefined || tailUuid === undefined) return {};
  return {
    preservedSegment: { headUuid, anchorUuid, tailUuid },
    ...(names === "ends" ? {} : { preservedMessages: { anchorUuid, uuids, allUuids: uuids } }),
  };
}
