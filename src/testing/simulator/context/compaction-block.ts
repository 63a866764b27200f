import type { ApiMessage } from "../../../conversation/message.ts";
import { type CacheControl, type ContentBlock, contentBlocks } from "../../../conversation/message.ts";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import type { ReplyBlock } from "../exchange.ts";
import { withoutMarks } from "../prompt/block-key.ts";
import { BETAS } from "../wording/betas.ts";
import { refuse } from "../wording/refuse.ts";
import type { PrefixWalk, SummarisedPrefix } from "./bound-prefix.ts";
import { asCompaction, blockPath, type CompactionBlock, hasSummary } from "./conversation.ts";
import { type Sealer, shortDigest } from "./seal.ts";

const KIND = "compaction";
const FIELDS_BEFORE_DIGESTS = 5;

/** A block as the provider returns it: the client sends it back unchanged. */
export function compactionBlock(content: string | null, more: JsonRecord = {}): ReplyBlock {
  const block: JsonRecord = { type: "compaction", content, encrypted_content: null, ...more };
  return block as unknown as ReplyBlock;
}

/** The signature of a summary: over its text, and over the messages that it stands for. */
export function signSummary(
  sealer: Sealer,
  summary: { readonly content: string; readonly toolChanges: unknown },
  /** Undefined when the summary is written by a model that does not bind thinking. */
  walk: PrefixWalk | undefined,
): string {
  return sealer.seal([
    KIND,
    shortDigest(summary.content),
    digestOfChanges(summary.toolChanges),
    walk?.toolsDigest ?? "",
    walk?.systemDigest ?? "",
    ...(walk?.digests ?? []),
  ]);
}

interface SummarySignature extends SummarisedPrefix {
  readonly contentDigest: string;
  readonly changesDigest: string;
}

export function readSummarySignature(sealer: Sealer, signature: string): SummarySignature | undefined {
  const seal = sealer.open(signature);
  if (seal === undefined || seal.fields[0] !== KIND) return undefined;
  const [, contentDigest = "", changesDigest = "", toolsDigest = "", systemDigest = ""] = seal.fields;
  const digests = seal.fields.slice(FIELDS_BEFORE_DIGESTS);
  return { contentDigest, changesDigest, toolsDigest, systemDigest, digests };
}

const digestOfChanges = (changes: unknown): string =>
  shortDigest(JSON.stringify(withoutMarks(changes ?? [])) ?? "");

export interface CompactionRules {
  readonly betas: ReadonlySet<string>;
  readonly acceptsForeign: boolean;
}

interface FoundBlock {
  readonly message: number;
  readonly index: number;
  readonly block: CompactionBlock;
  readonly path: string;
}

/**
 * Compaction blocks as the model is shown them: the last summary is the first thing said, what stood before
 * it is gone, and blocks of failed compactions are passed over.
 */
export function resolveSummaries(messages: readonly ApiMessage[]): readonly ApiMessage[] {
  const found = findBlocks(messages);
  if (found.length === 0) return messages;
  const last = found.findLast(({ block }) => hasSummary(block));
  return withoutFailed(last === undefined ? messages : fromSummary(messages, last));
}

function findBlocks(messages: readonly ApiMessage[]): readonly FoundBlock[] {
  const found: FoundBlock[] = [];
  for (let message = 0; message < messages.length; message++) {
    const content = messages[message]?.content;
    if (typeof content === "string") continue;
    const blocks = contentBlocks(content);
    for (let index = 0; index < blocks.length; index++) {
      const given = blocks[index];
      const block = given === undefined ? undefined : asCompaction(given);
      if (block !== undefined) found.push({ message, index, block, path: blockPath(message, index) });
    }
  }
  return found;
}

/**
 * Refuses summaries that are not as they were returned. Only those of a compaction at a threshold come without
 * a signature, so that beta has to be there for one without.
 */
export function checkSummaries(
  messages: readonly ApiMessage[],
  sealer: Sealer,
  rules: CompactionRules,
): void {
  const needsSignature = !rules.betas.has(BETAS.thresholdCompaction);
  for (const { block, path } of findBlocks(messages)) {
    if (!hasSummary(block)) continue;
    if (typeof block.signature === "string") checkSignature(block, block.signature, path, { sealer, rules });
    else if (needsSignature) refuse("compactionSignature", { path });
  }
}

function checkSignature(
  block: CompactionBlock,
  given: string,
  path: string,
  { sealer, rules }: { readonly sealer: Sealer; readonly rules: CompactionRules },
): void {
  const signature = readSummarySignature(sealer, given);
  if (signature === undefined) {
    if (rules.acceptsForeign) return;
    refuse("compactionSignature", { path });
  }
  if (shortDigest(String(block.content)) !== signature.contentDigest) refuse("compactionContent", { path });
  if (digestOfChanges(block.tool_changes) !== signature.changesDigest) {
    refuse("compactionToolChanges", { path });
  }
}

function fromSummary(
  messages: readonly ApiMessage[],
  { message, index, block }: FoundBlock,
): readonly ApiMessage[] {
  const own = messages[message];
  const rest = contentBlocks(own?.content).slice(index + 1);
  const after = own === undefined || rest.length === 0 ? [] : [{ ...own, content: rest }];
  return [...summaryMessages(block), ...after, ...messages.slice(message + 1)];
}

/** The summary in the place of everything before it, with the tools that were on offer at its end. */
export function summaryMessages(block: CompactionBlock): readonly ApiMessage[] {
  const text = typeof block.content === "string" ? block.content : "";
  const mark = block.cache_control as CacheControl | null | undefined;
  const content: ContentBlock[] = [{ type: "text", text, ...(mark == null ? {} : { cache_control: mark }) }];
  const changes = Array.isArray(block.tool_changes) ? block.tool_changes : [];
  const summary: ApiMessage = { role: "user", content };
  return changes.length === 0 ? [summary] : [summary, { role: "system", content: changes }];
}

function withoutFailed(messages: readonly ApiMessage[]): readonly ApiMessage[] {
  return messages.flatMap((message) => {
    const blocks = contentBlocks(message.content);
    const content = blocks.filter((block) => asCompaction(block) === undefined);
    if (content.length === blocks.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}
