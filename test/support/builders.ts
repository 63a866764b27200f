import type { ContentBlock, Entry, MessageContent, Usage } from "@longhaul/core";
import type {
  AssistantEntry,
  Attachment,
  AttachmentEntry,
  CompactBoundaryEntry,
  CompactMetadata,
  UserEntry,
} from "@longhaul/core/messages";

/** Builds a chain of entries like an agent: each entry is the child of the one before. */
export class ConversationBuilder {
  readonly entries: Entry[] = [];
  #count = 0;
  #minute = 0;
  readonly #prefix: string;

  constructor(prefix = "e") {
    this.#prefix = prefix;
  }

  link(): { uuid: string; parentUuid: string | null; timestamp: string; sessionId: string; cwd: string } {
    const last = this.entries.at(-1);
    return {
      uuid: `${this.#prefix}-${++this.#count}`,
      parentUuid: last?.uuid ?? null,
      timestamp: new Date(Date.UTC(2026, 0, 1, 0, this.#minute++)).toISOString(),
      sessionId: "session-1",
      cwd: "/project",
    };
  }

  push<T extends Entry>(entry: T): T {
    this.entries.push(entry);
    return entry;
  }

  user(content: MessageContent, fields: Partial<UserEntry> = {}): UserEntry {
    return this.push({ ...this.link(), type: "user", message: { role: "user", content }, ...fields });
  }

  assistant(content: MessageContent, fields: AssistantFields = {}): AssistantEntry {
    const { id = `msg_${this.#prefix}-${this.#count + 1}`, usage, ...rest } = fields;
    const blocks: MessageContent = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const message = {
      id,
      role: "assistant" as const,
      model: "claude-sonnet-5",
      content: blocks,
      ...(usage ? { usage } : {}),
    };
    return this.push({ ...this.link(), type: "assistant", message, requestId: `req_${id}`, ...rest });
  }

  /** Adds a tool call and, unless `result` is undefined, its result. */
  tool(
    id: string,
    name: string,
    input: unknown,
    result?: string | readonly ContentBlock[],
    fields: AssistantFields = {},
  ): void {
    this.assistant([toolUse(id, name, input)], fields);
    if (result !== undefined) this.user([toolResult(id, result)]);
  }

  attachment(attachment: Attachment): AttachmentEntry {
    return this.push({ ...this.link(), type: "attachment", attachment });
  }

  boundary(metadata: Partial<CompactMetadata> = {}): CompactBoundaryEntry {
    const link = this.link();
    return this.push({
      ...link,
      parentUuid: null,
      logicalParentUuid: link.parentUuid,
      type: "system",
      subtype: "compact_boundary",
      content: "Conversation compacted",
      level: "info",
      isMeta: false,
      compactMetadata: { trigger: "auto", preTokens: 100_000, ...metadata },
    });
  }

  summary(text: string): UserEntry {
    return this.user(text, { isCompactSummary: true, isVisibleInTranscriptOnly: true });
  }
}

type AssistantFields = Partial<Omit<AssistantEntry, "message">> & { id?: string; usage?: Usage };

export const toolUse = (id: string, name: string, input: unknown): ContentBlock => ({
  type: "tool_use",
  id,
  name,
  input,
});

export const toolResult = (
  id: string,
  content: string | readonly ContentBlock[],
  isError = false,
): ContentBlock => ({
  type: "tool_result",
  tool_use_id: id,
  content,
  ...(isError ? { is_error: true } : {}),
});

export const thinking = (text: string): ContentBlock => ({
  type: "thinking",
  thinking: text,
  signature: `sig:${text}`,
});

export const usage = (input: number, output: number, cacheRead = 0, cacheCreation = 0): Usage => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: cacheRead,
  cache_creation_input_tokens: cacheCreation,
});

/** A complete PNG image of one pixel. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Signature and header of this image. Any base64 text may follow. */
const PNG_HEADER = PNG.slice(0, 44);

/** A PNG image of one pixel with padding, so that its base64 text has this many characters. */
export const pngOfSize = (characters: number): string =>
  PNG_HEADER.padEnd(characters - (characters % 4), "A");

/** Lengthens base64 text to whole groups of four characters. */
const wholeGroups = (text: string): string => text.padEnd(4 * Math.ceil(text.length / 4), "A");

/** An image. Its data is the given base64 text after a PNG header, so that different texts are different images. */
export const image = (data: string = PNG): ContentBlock => ({
  type: "image",
  source: {
    type: "base64",
    media_type: "image/png",
    data: /^(?:iVBORw0KGgo|$)/.test(data) ? data : wholeGroups(`${PNG_HEADER}${data}`),
  },
});
