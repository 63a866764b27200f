import type { JsonRecord } from "../../../../conversation/untrusted.ts";
import { refuse } from "../../wording/refuse.ts";
import { recordField } from "../fields/readers.ts";
import type { Inspection } from "../shape/shape-check.ts";

export type Role = "user" | "assistant" | "system";

/** A block and where it stands in the array as sent; text in place of a list has no index. */
export interface PlacedBlock {
  readonly type: string;
  readonly block: JsonRecord;
  readonly message: number;
  readonly index: number | undefined;
}

export interface SentMessage {
  readonly role: Role;
  readonly message: number;
  readonly blocks: readonly PlacedBlock[];
  /** A system message that does nothing but set the effort; it alone may have no content. */
  readonly isEffortOnly: boolean;
}

/** Messages of one role in a row: to the provider they are one. */
export interface Turn {
  readonly role: Role;
  readonly messages: readonly SentMessage[];
  readonly blocks: readonly PlacedBlock[];
}

export function readMessages(messages: readonly JsonRecord[]): readonly SentMessage[] {
  return messages.map((sent, message): SentMessage => {
    const role = sent.role as Role;
    const blocks = readBlocks(sent.content as string | readonly JsonRecord[] | undefined, message);
    const isEffortOnly =
      role === "system" &&
      blocks.length === 0 &&
      typeof recordField(sent, "output_config")?.effort === "string";
    return { role, message, blocks, isEffortOnly };
  });
}

function readBlocks(
  content: string | readonly JsonRecord[] | undefined,
  message: number,
): readonly PlacedBlock[] {
  if (content === undefined || content === "") return [];
  if (typeof content === "string") {
    return [{ type: "text", block: { type: "text", text: content }, message, index: undefined }];
  }
  return content.map((block, index) => ({ type: block.type as string, block, message, index }));
}

export function pathOf({ message, index }: PlacedBlock): string {
  return index === undefined ? `messages.${message}` : `messages.${message}.content.${index}`;
}

export function readTurns(messages: readonly SentMessage[], inspection: Inspection): readonly Turn[] {
  const runs: SentMessage[][] = [];
  for (const message of messages) {
    const run = runs.at(-1);
    const first = run?.[0];
    if (run === undefined || first === undefined || !continues(first, message)) runs.push([message]);
    else {
      if (message.role !== "system" && inspection.switches.consecutiveRoles === "refused") {
        refuse("rolesAlternate");
      }
      run.push(message);
    }
  }
  return runs.map(joinRun);
}

/** The message after the provider's own summary may have the same role and is a turn of its own. */
function continues(first: SentMessage, message: SentMessage): boolean {
  const isSummary = first.blocks.length > 0 && first.blocks.every(({ type }) => type === "compaction");
  return first.role === message.role && !isSummary;
}

function joinRun(messages: readonly SentMessage[]): Turn {
  const first = messages[0];
  if (first === undefined) return { role: "user", messages, blocks: [] };
  const blocks = messages.length === 1 ? first.blocks : messages.flatMap((message) => message.blocks);
  return { role: first.role, messages, blocks };
}
