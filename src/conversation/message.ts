import type { MessageContent } from "./block.ts";

/** A message as it is sent: what {@link flatten} makes of entries. */
export interface ApiMessage {
  readonly role: "user" | "assistant" | "system";
  readonly content: MessageContent;
}

/** The versions of the API that `anthropic-version` names. */
export type ApiVersion = "2023-06-01" | "2026-10-21";

/** The parts of a request body that the API's rules for messages look at; all other fields pass through. */
export interface ApiRequest {
  readonly messages: readonly ApiMessage[];
  readonly model?: string;
  readonly max_tokens?: number;
  readonly system?: MessageContent;
  readonly tools?: readonly unknown[];
  readonly thinking?: { readonly type: string };
  readonly cache_control?: unknown;
}
