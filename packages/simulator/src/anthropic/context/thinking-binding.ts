import { contentBlocks, isThinking } from "@longhaul/core/internal/messages";
import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import type { Sealer } from "../../sealer.ts";
import type { SimulatedModel } from "../request.ts";
import { BETAS } from "../wording/betas.ts";
import { refuse, textOf } from "../wording/refuse.ts";
import { BoundPrefixes, type PrefixWalk, type SummarizedPrefix } from "./bound-prefix.ts";
import { asCompaction, blockPath, type Conversation, hasSummary, keepBlocks } from "./conversation.ts";
import {
  type ReadThinking,
  SignatureReader,
  signThinking,
  type ThinkingSignature,
  thinkingDigest,
} from "./signatures.ts";

/**
 * Rules for checking the thinking of a request. The rules follow from the options of the request and from the
 * account.
 */
export interface BindingRules {
  /**
   * True if a thinking block that does not match its conversation is refused or dropped. Otherwise it is only
   * reported.
   */
  readonly isEnforced: boolean;
  readonly onMismatch: "error" | "drop_block";
  /**
   * True if the request has the beta header for controlling this check. The response then lists the
   * transformations.
   */
  readonly hasControls: boolean;
  /** True if signatures that this simulator did not write are accepted without a check. */
  readonly acceptsForeign: boolean;
}

interface BindingOutcome {
  /** Messages without the dropped blocks. If no block was dropped, this is the original array. */
  readonly messages: readonly ApiMessage[];
  /** Transformations in request order. Empty unless the request has the beta header. */
  readonly transformations: readonly InputTransformation[];
  /** Signs the thinking of the reply, which is bound to the sent conversation. */
  readonly signer: ReplySigner;
}

/** Transformation of a thinking block, as listed in a response. */
export interface InputTransformation {
  readonly type: "thinking_dropped" | "thinking_mismatch_allowed";
  readonly path: string;
  readonly reason: "model_binding_mismatch" | "prefix_binding_mismatch";
}

/** Signs the thinking of one reply, block by block. */
export interface ReplySigner {
  /**
   * Returns the signature of a thinking block. `before` contains the complete blocks of the reply before the
   * thinking block, including a compaction block.
   */
  sign(thinking: string, before: readonly ContentBlock[]): string;
}

/** A thinking block of a request, with its position. */
export interface SentThinking extends ReadThinking, Place {
  readonly type: "thinking" | "redacted_thinking";
}

interface Place {
  readonly message: number;
  readonly index: number;
}

/** Function that finds facts about the model that wrote a block. */
type FindModel = (id: string) => Pick<SimulatedModel, "bindsThinking"> | undefined;

/** Function that reads from a signature which messages the compaction block replaces. */
type ReadSummary = (signature: string) => SummarizedPrefix | undefined;

/** Signs the thinking of replies, and checks returned thinking against its conversation. */
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
    const { messages } = sent;
    const thinking = this.#readThinking(messages);
    // If the model does not bind thinking, nothing is checked, and the walk is needed only to sign the reply.
    let walk: PrefixWalk | undefined;
    const signer = this.#signer(model.id, () => ({
      walk: walk ?? this.walk(sent),
      thinkingIds: thinking.map(({ id }) => id),
    }));
    if (thinking.length === 0) return { messages, transformations: [], signer };
    refuseInvalid(thinking, messages, rules);
    const unreadable = new Set(thinking.filter((block) => !this.#isReadable(block, model)));
    let mismatches: readonly Mismatch[] = [];
    if (model.bindsThinking) {
      walk = this.#prefixes.begin(sent);
      mismatches = this.#findMismatches(walk, messages, thinking);
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
      messages: withoutThinking(messages, dropped),
      transformations: rules.hasControls ? reportBlocks(thinking, { unreadable, dropped, allowed }) : [],
      signer,
    };
  }

  /** Walks to the end of the whole conversation as sent. */
  walk(sent: Conversation): PrefixWalk {
    const walk = this.#prefixes.begin(sent);
    this.#goThrough(walk, sent.messages, () => {});
    return walk;
  }

  #goThrough(
    walk: PrefixWalk,
    messages: readonly ApiMessage[],
    atThinking: (message: number, index: number) => void,
  ): void {
    for (const { message, role, blocks, from } of checkedMessages(messages)) {
      const whole = messages[message];
      if (from === 0 && whole !== undefined) walk.enter(whole);
      for (let index = from; index < blocks.length; index++) {
        const block = blocks[index];
        if (block === undefined) continue;
        if (isThinking(block)) {
          walk.reach(role);
          atThinking(message, index);
        } else addBlock(walk, role, block, this.#readSummary);
      }
    }
  }

  #readThinking(messages: readonly ApiMessage[]): readonly SentThinking[] {
    const found: SentThinking[] = [];
    for (const { message, role, blocks, from } of checkedMessages(messages)) {
      if (role !== "assistant") continue;
      for (let index = from; index < blocks.length; index++) {
        const block = blocks[index];
        if (block === undefined || !isThinking(block)) continue;
        const { id, signature, isIntact } = this.#reader.read(block);
        found.push({ message, index, type: block.type, id, signature, isIntact });
      }
    }
    return found;
  }

  /**
   * True if the model can read the thinking block. A model can read its own thinking, and the thinking of
   * models that do not bind thinking.
   */
  #isReadable({ signature }: SentThinking, model: SimulatedModel): boolean {
    if (signature === undefined || signature.model === model.id) return true;
    return this.#findModel(signature.model)?.bindsThinking !== true;
  }

  #findMismatches(
    walk: PrefixWalk,
    messages: readonly ApiMessage[],
    thinking: readonly SentThinking[],
  ): readonly Mismatch[] {
    const disorders = thinkingDisorders(thinking);
    const mismatches: Mismatch[] = [];
    let next = 0;
    this.#goThrough(walk, messages, (message, index) => {
      const at = thinking[next];
      if (at === undefined || at.message !== message || at.index !== index) return;
      const disorder = disorders[next++];
      if (at.signature === undefined) return;
      const isElsewhere = !walk.has(at.signature.prefixDigest);
      if (!isElsewhere && disorder === undefined) return;
      const { toolsDigest, systemDigest, blocks } = walk;
      mismatches.push({
        at,
        signature: at.signature,
        disorder: isElsewhere ? undefined : disorder,
        now: { toolsDigest, systemDigest, blocks },
      });
    });
    return mismatches;
  }

  /**
   * Creates the signer of a reply.
   * @param findPlace finds the position of the reply. Called only if there is thinking to sign.
   */
  #signer(model: string, findPlace: () => ReplyPlace): ReplySigner {
    let place: ReplyPlace | undefined;
    return {
      sign: (thinking, before) => {
        place ??= findPlace();
        const walk = place.walk.copy();
        let { thinkingIds } = place;
        for (const block of before) {
          if (isThinking(block)) {
            thinkingIds = [...thinkingIds, this.#reader.read(block).id];
            continue;
          }
          addBlock(walk, "assistant", block, () => undefined);
          if (isSummary(block)) thinkingIds = [];
        }
        return signThinking(this.#sealer, thinking, { model, walk, thinkingIds });
      },
    };
  }
}

interface ReplyPlace {
  readonly walk: PrefixWalk;
  readonly thinkingIds: readonly string[];
}

/** Yields the messages to check. Skips everything before the last summary, including thinking. */
function* checkedMessages(messages: readonly ApiMessage[]): Generator<{
  readonly message: number;
  readonly role: ApiMessage["role"];
  readonly blocks: readonly ContentBlock[];
  readonly from: number;
}> {
  const start = startOfChecked(messages);
  for (let message = start.message; message < messages.length; message++) {
    const sent = messages[message];
    if (sent === undefined) continue;
    const from = message === start.message ? start.index : 0;
    yield { message, role: sent.role, blocks: contentBlocks(sent.content), from };
  }
}

function startOfChecked(messages: readonly ApiMessage[]): Place {
  for (let message = messages.length - 1; message >= 0; message--) {
    const content = messages[message]?.content;
    if (typeof content === "string") continue;
    const index = contentBlocks(content).findLastIndex(isSummary);
    if (index >= 0) return { message, index };
  }
  return { message: 0, index: 0 };
}

function isSummary(block: ContentBlock): boolean {
  const summary = asCompaction(block);
  return summary !== undefined && hasSummary(summary);
}

/** Adds a block to the walk. A summary restarts the walk. */
function addBlock(walk: PrefixWalk, role: string, block: ContentBlock, readSummary: ReadSummary): void {
  const summary = asCompaction(block);
  if (summary === undefined || !hasSummary(summary)) walk.add(role, block);
  else if (typeof summary.signature !== "string") walk.restart(summary.content);
  else walk.restartSigned(summary.signature, readSummary(summary.signature));
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

/**
 * Problem with the thinking before a block: a thinking block is missing from the middle, or a removed
 * thinking block has returned.
 */
type Disorder = "missing" | "put-back" | undefined;

/**
 * Finds thinking blocks that are invalid because the thinking before them has changed. A client may remove
 * thinking from the beginning, from the end, or completely. If a thinking block is missing from the middle,
 * all later ones are invalid. A removed thinking block may also return. If it was absent when a later block
 * was written, the later block is invalid.
 */
export function thinkingDisorders(thinking: readonly SentThinking[]): readonly Disorder[] {
  const disorders: Disorder[] = [];
  for (const [index, { signature }] of thinking.entries()) {
    disorders.push(signature === undefined ? undefined : disorderAt(index, signature));
  }
  return disorders;

  function disorderAt(index: number, signature: ThinkingSignature): Disorder {
    if (index === 0) return undefined;
    const isNext = signature.previousId === thinking[index - 1]?.id;
    const hasMore = index > signature.thinkingBefore;
    const inherited = disorders[index - 1];
    if (isNext && !hasMore && inherited === undefined) return undefined;
    if (hasSameBefore(index, signature)) return undefined;
    if (hasMore) return "put-back";
    return isNext ? inherited : "missing";
  }

  /**
   * Compares the number of thinking blocks first, and the digest only if the numbers are equal. Computing a
   * digest for every block would take quadratic time.
   */
  function hasSameBefore(
    index: number,
    { thinkingBefore, thinkingDigest: known }: ThinkingSignature,
  ): boolean {
    if (thinkingBefore !== index) return false;
    return known === thinkingDigest(thinking.slice(0, index).map(({ id }) => id));
  }
}

/** A thinking block that does not match its conversation. */
interface Mismatch {
  readonly at: SentThinking;
  readonly signature: ThinkingSignature;
  /** Problem with the thinking before the block. Undefined if other blocks have changed. */
  readonly disorder: Disorder;
  /** Conversation before the block in this request. */
  readonly now: Pick<PrefixWalk, "toolsDigest" | "systemDigest" | "blocks">;
}

/** Refuses the request. The error text says what has changed in the conversation and what to do. */
function refuseMismatch(mismatch: Mismatch, hasControls: boolean): never {
  const { type, message, index } = mismatch.at;
  const path = blockPath(message, index);
  const changed = whatChanged(mismatch, path);
  const needed = textOf("bindingNeedsBeta", { beta: BETAS.thinkingBinding });
  const sentences = hasControls ? changed : `${needed} ${changed}`;
  return refuse("thinkingBoundElsewhere", { path, type, sentences });
}

function whatChanged({ signature, disorder, now }: Mismatch, path: string): string {
  if (disorder === "missing") return textOf("thinkingMissing");
  if (disorder === "put-back") return textOf("thinkingPutBack");
  if (signature.systemDigest !== now.systemDigest) return textOf("systemDiffers");
  if (signature.toolsDigest !== now.toolsDigest) return textOf("toolsDiffer");
  if (signature.prefixBlocks > now.blocks) return textOf("contentMissing");
  if (signature.prefixBlocks < now.blocks) return textOf("contentAdded");
  return textOf("olderMessageDiffers", { path });
}

/** Also drops the thinking blocks right after a dropped one, because they continue the same thought. */
function withTheRestOfTheRun(
  failed: readonly SentThinking[],
  thinking: readonly SentThinking[],
): readonly SentThinking[] {
  const dropped = new Set(failed);
  for (const [position, block] of thinking.entries()) {
    const before = thinking[position - 1];
    const isNext = before?.message === block.message && before.index === block.index - 1;
    if (before !== undefined && isNext && dropped.has(before)) dropped.add(block);
  }
  return [...dropped];
}

function withoutThinking(
  messages: readonly ApiMessage[],
  dropped: ReadonlySet<SentThinking>,
): readonly ApiMessage[] {
  if (dropped.size === 0) return messages;
  const paths = new Set([...dropped].map(({ message, index }) => blockPath(message, index)));
  return keepBlocks(messages, (block, at, index) => !isThinking(block) || !paths.has(blockPath(at, index)));
}

function reportBlocks(
  thinking: readonly SentThinking[],
  found: Readonly<Record<"unreadable" | "dropped" | "allowed", ReadonlySet<SentThinking>>>,
): readonly InputTransformation[] {
  return thinking.flatMap((block): readonly InputTransformation[] => {
    const path = blockPath(block.message, block.index);
    const reason = found.unreadable.has(block) ? "model_binding_mismatch" : "prefix_binding_mismatch";
    if (found.dropped.has(block)) return [{ type: "thinking_dropped", path, reason }];
    if (found.allowed.has(block)) return [{ type: "thinking_mismatch_allowed", path, reason }];
    return [];
  });
}
