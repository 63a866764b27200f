import type { ApiMessage } from "../../../conversation/message.ts";
import { contentBlocks, isThinking } from "../../../conversation/message.ts";
import type { SimulatedModel } from "../exchange.ts";
import { refuse } from "../wording/refuse.ts";
import { BoundPrefixes, type PrefixWalk } from "./bound-prefix.ts";
import { blockPath, type Conversation } from "./conversation.ts";
import {
  type InputTransformation,
  reportBlocks,
  withoutBlocks,
  withTheRestOfTheRun,
} from "./dropped-thinking.ts";
import { type Mismatch, refuseMismatch } from "./mismatch.ts";
import { type ReplyPlace, ReplySigner } from "./reply-signer.ts";
import type { Sealer } from "./seal.ts";
import {
  addBlock,
  type Place,
  type ReadSummary,
  readThinking,
  type SentThinking,
  startOfChecked,
} from "./sent-thinking.ts";
import { SignatureReader } from "./signature.ts";
import { ThinkingOrder } from "./thinking-order.ts";

/** How this request wants to be checked, and how the account has it. */
export interface BindingRules {
  /** Whether a mismatch has consequences at all. */
  readonly isEnforced: boolean;
  readonly onMismatch: "error" | "drop_block";
  /** The beta header of the binding controls: what was done is reported. */
  readonly hasControls: boolean;
  /** Signatures of other providers and sessions pass unchecked. */
  readonly acceptsForeign: boolean;
}

export interface BindingOutcome {
  /** Without the blocks that were dropped; the very array that was sent when there are none. */
  readonly messages: readonly ApiMessage[];
  /** In the order of the request; empty unless the request has the beta header. */
  readonly transformations: readonly InputTransformation[];
  /** For the thinking of the reply, which is bound to what was sent. */
  readonly signer: ReplySigner;
}

/** What the binder knows of a model that may have written a block. */
type FindModel = (id: string) => Pick<SimulatedModel, "bindsThinking"> | undefined;

/** Signs the thinking of replies, and checks what comes back against the conversation it comes back in. */
export class ThinkingBinder {
  readonly #sealer: Sealer;
  readonly #reader: SignatureReader;
  readonly #findModel: FindModel;
  readonly #readSummary: ReadSummary;
  readonly #prefixes = new BoundPrefixes();

  constructor(sealer: Sealer, findModel: FindModel, readSummary: ReadSummary) {
    this.#sealer = sealer;
    this.#reader = new SignatureReader(sealer);
    this.#findModel = findModel;
    this.#readSummary = readSummary;
  }

  check(sent: Conversation, model: SimulatedModel, rules: BindingRules): BindingOutcome {
    const start = startOfChecked(sent.messages);
    const thinking = readThinking(this.#reader, sent.messages, start);
    const place = new LazyPlace(() => this.walk(sent), thinking);
    const signer = new ReplySigner(this.#sealer, this.#reader, model.id, () => place.find());
    if (thinking.length === 0) return { messages: sent.messages, transformations: [], signer };
    refuseInvalid(thinking, sent.messages, rules);
    const unreadable = new Set(thinking.filter((block) => !this.#isReadable(block, model)));
    let mismatches: readonly PlacedMismatch[] = [];
    if (model.bindsThinking) {
      const walk = this.#prefixes.begin(sent);
      mismatches = this.#findMismatches(walk, sent.messages, start, thinking);
      place.walk = walk;
    }
    const wrong = mismatches.filter(({ at }) => !unreadable.has(at));
    const [first] = wrong;
    if (first !== undefined && rules.isEnforced && rules.onMismatch === "error") {
      refuseMismatch(first, rules.hasControls);
    }
    const failed = wrong.map(({ at }) => at);
    const mismatched = rules.isEnforced ? withTheRestOfTheRun(failed, thinking) : [];
    const dropped = new Set([...unreadable, ...mismatched]);
    const allowed = new Set(rules.isEnforced ? [] : failed);
    return {
      messages: dropped.size === 0 ? sent.messages : withoutBlocks(sent.messages, dropped),
      transformations: rules.hasControls ? reportBlocks(thinking, { unreadable, dropped, allowed }) : [],
      signer,
    };
  }

  /** The whole conversation as sent, gone through to its end. */
  walk(sent: Conversation): PrefixWalk {
    const walk = this.#prefixes.begin(sent);
    this.#goThrough(walk, sent.messages, startOfChecked(sent.messages), () => {});
    return walk;
  }

  #goThrough(
    walk: PrefixWalk,
    messages: readonly ApiMessage[],
    start: Place,
    atThinking: (message: number, index: number) => void,
  ): void {
    for (let at = start.message; at < messages.length; at++) {
      const message = messages[at];
      if (message === undefined) continue;
      const blocks = contentBlocks(message.content);
      const from = at === start.message ? start.index : 0;
      if (from === 0) walk.enter(message);
      for (let index = from; index < blocks.length; index++) {
        const block = blocks[index];
        if (block === undefined) continue;
        if (isThinking(block)) {
          walk.reach(message.role);
          atThinking(at, index);
        } else addBlock(walk, message.role, block, this.#readSummary);
      }
    }
  }

  /** What models with bound thinking write no other model can read; they read what older ones wrote. */
  #isReadable({ signature }: SentThinking, model: SimulatedModel): boolean {
    if (signature === undefined || signature.model === model.id) return true;
    return this.#findModel(signature.model)?.bindsThinking !== true;
  }

  #findMismatches(
    walk: PrefixWalk,
    messages: readonly ApiMessage[],
    start: Place,
    thinking: readonly SentThinking[],
  ): readonly PlacedMismatch[] {
    const order = new ThinkingOrder(thinking);
    const mismatches: PlacedMismatch[] = [];
    let next = 0;
    this.#goThrough(walk, messages, start, (message, index) => {
      const at = thinking[next];
      if (at === undefined || at.message !== message || at.index !== index) return;
      const disorder = order.disorderAt(next++);
      const { signature, type } = at;
      if (signature === undefined) return;
      const isElsewhere = !walk.has(signature.prefixDigest);
      if (!isElsewhere && disorder === undefined) return;
      const { toolsDigest, systemDigest, blocks } = walk;
      const now = { toolsDigest, systemDigest, blocks };
      const reason = isElsewhere ? undefined : disorder;
      mismatches.push({ at, path: blockPath(message, index), type, signature, disorder: reason, now });
    });
    return mismatches;
  }
}

interface PlacedMismatch extends Mismatch {
  readonly at: SentThinking;
}

/** Where the reply begins: known from the check, or found when there is something to sign. */
class LazyPlace {
  walk: PrefixWalk | undefined;
  readonly #goThrough: () => PrefixWalk;
  readonly #thinking: readonly SentThinking[];

  constructor(goThrough: () => PrefixWalk, thinking: readonly SentThinking[]) {
    this.#goThrough = goThrough;
    this.#thinking = thinking;
  }

  find(): ReplyPlace {
    const walk = this.walk ?? this.#goThrough();
    return { walk, thinkingIds: this.#thinking.map(({ id }) => id) };
  }
}

function refuseInvalid(
  thinking: readonly SentThinking[],
  messages: readonly ApiMessage[],
  rules: BindingRules,
): void {
  const bad = thinking.find(
    ({ signature, isIntact }) => !isIntact || (signature === undefined && !rules.acceptsForeign),
  );
  if (bad === undefined) return;
  const path = blockPath(bad.message, bad.index);
  const isLatest = bad.message === messages.findLastIndex(({ role }) => role === "assistant");
  const isChanged = bad.signature !== undefined;
  if (isLatest && isChanged) refuse("latestThinkingModified", { path });
  refuse("signatureInvalid", { path, type: bad.type });
}
