import { isThinking } from "../../../conversation/block.ts";
import type { ApiMessage } from "../../../conversation/message.ts";
import type { SimulatedModel } from "../exchange.ts";
import { BoundPrefixes, type PrefixWalk } from "./bound-prefix.ts";
import { blockPath, blocksOf, type Conversation } from "./conversation.ts";
import {
  type InputTransformation,
  reportBlocks,
  withoutBlocks,
  withTheRestOfTheRun,
} from "./dropped-thinking.ts";
import { type Mismatch, mismatchMessage } from "./mismatch.ts";
import { ReplySigner } from "./reply-signer.ts";
import type { Sealer } from "./seal.ts";
import {
  addBlock,
  type Place,
  type ReadSummary,
  readThinking,
  type SentThinking,
  startOfChecked,
} from "./sent-thinking.ts";
import { isTextSigned } from "./signature.ts";
import { invalidRequest, VERIFIED } from "./texts.ts";
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
}

/** What the binder knows of a model that may have written a block. */
type FindModel = (id: string) => Pick<SimulatedModel, "bindsThinking"> | undefined;

/** Signs the thinking of replies, and checks what comes back against the conversation it comes back in. */
export class ThinkingBinder {
  readonly #sealer: Sealer;
  readonly #findModel: FindModel;
  readonly #readSummary: ReadSummary;
  readonly #prefixes = new BoundPrefixes();

  constructor(sealer: Sealer, findModel: FindModel, readSummary: ReadSummary) {
    this.#sealer = sealer;
    this.#findModel = findModel;
    this.#readSummary = readSummary;
  }

  check(sent: Conversation, model: SimulatedModel, rules: BindingRules): BindingOutcome {
    const start = startOfChecked(sent.messages);
    const thinking = readThinking(this.#sealer, sent.messages, start);
    if (thinking.length === 0) return { messages: sent.messages, transformations: [] };
    this.#refuseInvalid(thinking, sent.messages, rules);
    const unreadable = new Set(thinking.filter((block) => !this.#isReadable(block, model)));
    const mismatches = model.bindsThinking ? this.#findMismatches(sent, start, thinking, unreadable) : [];
    const first = mismatches[0];
    if (first !== undefined && rules.isEnforced && rules.onMismatch === "error") {
      throw invalidRequest(mismatchMessage(first, rules.hasControls));
    }
    const failed = mismatches.map(({ at }) => at);
    const mismatched = rules.isEnforced ? withTheRestOfTheRun(failed, thinking) : [];
    const dropped = new Set([...unreadable, ...mismatched]);
    const allowed = new Set(rules.isEnforced ? [] : failed);
    return {
      messages: dropped.size === 0 ? sent.messages : withoutBlocks(sent.messages, dropped),
      transformations: rules.hasControls ? reportBlocks(thinking, { unreadable, dropped, allowed }) : [],
    };
  }

  /** Signs, one after the other, the thinking of the reply to this conversation. */
  signer(sent: Conversation, model: SimulatedModel): ReplySigner {
    return new ReplySigner(this.#sealer, model.id, () => {
      const start = startOfChecked(sent.messages);
      const walk = this.walk(sent);
      const thinkingIds = readThinking(this.#sealer, sent.messages, start).map(({ id }) => id);
      return { walk, thinkingIds };
    });
  }

  /** The whole conversation as sent, gone through to its end. */
  walk(sent: Conversation): PrefixWalk {
    const start = startOfChecked(sent.messages);
    const walk = this.#prefixes.begin(sent);
    this.#goThrough(walk, sent.messages, start, () => {});
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
      const blocks = blocksOf(message.content);
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

  #refuseInvalid(
    thinking: readonly SentThinking[],
    messages: readonly ApiMessage[],
    rules: BindingRules,
  ): void {
    const latest = messages.findLastIndex(({ role }) => role === "assistant");
    for (const { message, index, block, signature } of thinking) {
      const path = blockPath(message, index);
      if (signature === undefined) {
        if (rules.acceptsForeign) continue;
        throw invalidRequest(VERIFIED.invalidSignature(path, block.type));
      }
      if (isTextSigned(block, signature)) continue;
      const isLatest = message === latest;
      throw invalidRequest(
        isLatest ? VERIFIED.latestThinkingModified(path) : VERIFIED.invalidSignature(path, block.type),
      );
    }
  }

  /** What models with bound thinking write no other model can read; they read what older ones wrote. */
  #isReadable({ signature }: SentThinking, model: SimulatedModel): boolean {
    if (signature === undefined || signature.model === model.id) return true;
    return this.#findModel(signature.model)?.bindsThinking !== true;
  }

  #findMismatches(
    sent: Conversation,
    start: Place,
    thinking: readonly SentThinking[],
    unreadable: ReadonlySet<SentThinking>,
  ): readonly (Mismatch & { readonly at: SentThinking })[] {
    const order = new ThinkingOrder(thinking);
    const mismatches: (Mismatch & { at: SentThinking })[] = [];
    const walk = this.#prefixes.begin(sent);
    let next = 0;
    this.#goThrough(walk, sent.messages, start, (message, index) => {
      const at = thinking[next];
      if (at === undefined || at.message !== message || at.index !== index) return;
      const disorder = order.disorderAt(next++);
      if (at.signature === undefined || unreadable.has(at)) return;
      const isElsewhere = !walk.has(at.signature.prefixDigest);
      if (!isElsewhere && disorder === undefined) return;
      const path = blockPath(message, index);
      const { toolsDigest, systemDigest, blocks } = walk;
      const now = { toolsDigest, systemDigest, blocks };
      mismatches.push({
        at,
        path,
        kind: at.block.type,
        signature: at.signature,
        disorder: isElsewhere ? undefined : disorder,
        now,
      });
    });
    return mismatches;
  }
}
