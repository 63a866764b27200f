import type { ResultIndexOptions } from "../clear/result-index.ts";
import type { Finding } from "../conversation/check/finding.ts";
import type { CheckOptions } from "../conversation/check/rule.ts";
import type { AssistantEntry, Entry, EntryLink } from "../conversation/entry.ts";
import type { ToolSchema } from "../conversation/message.ts";
import type { CountText } from "../tokens/measure.ts";

/** The parts of the host's request that decide how messages are checked. */
export interface CheckedFrame {
  readonly thinking?: { readonly type: string };
  readonly tools?: readonly ToolSchema[];
}

export interface ThreadOptions {
  readonly countText: CountText;
  readonly check: CheckOptions & { readonly model?: string };
  /** The request of the turn under way. After a change call {@link Thread.reframe}. */
  readonly frame?: () => CheckedFrame;
  /** Tools whose results can be cleared, and which of them read files. */
  readonly clearable: ResultIndexOptions;
  /** What goes with every call besides messages, in tokens, until a report tells. */
  readonly overheadTokens: () => number;
  readonly newLink: (parentUuid: string | null) => EntryLink;
  readonly bindsThinking: () => boolean;
  /** True if the session file has a line with this id. Undefined if the host does not say. */
  readonly isWritten?: ((uuid: string) => boolean) | undefined;
  /** Whether a reported usage is to be believed. */
  readonly isTrusted: (entry: AssistantEntry) => boolean;
}

export interface Taken {
  /** Entries that were not in the conversation before. */
  readonly added: readonly Entry[];
  /** Entries for the session file: those, and entries that it holds otherwise. */
  readonly lines: readonly Entry[];
  /** Lines that are written although the file has their ids. */
  readonly again: ReadonlySet<Entry>;
  /** Thinking blocks that were left out because the host changed a message before them. */
  readonly thinkingBlocks: number;
  readonly findings: readonly Finding[];
  /** The host changed what we knew: everything was read from the start. */
  readonly isAnotherConversation: boolean;
}
