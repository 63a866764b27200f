import { Draft } from "../check/draft.ts";
import type { Finding } from "../check/finding.ts";
import { readMessages } from "../check/read.ts";
import type { CheckOptions } from "../check/rule.ts";
import type { ApiMessage, ApiRequest } from "../message.ts";
import { GrowingCheck, type ItemForm } from "./growing-check.ts";

/** How to check, and what goes along with the messages: model, system, tools, thinking. */
export type CheckedMessagesOptions = CheckOptions & Omit<ApiRequest, "messages">;

/**
 * The one exit, for messages that grow at their end: always what {@link checkRequest} makes of all that was
 * given, at the cost of what is new.
 */
export class CheckedMessages {
  readonly #check: GrowingCheck<ApiMessage>;

  constructor(options: CheckedMessagesOptions = {}) {
    this.#check = new GrowingCheck(messageForm(frameOf(options)), options);
  }

  /** Forgets what was given before. Returns all that was found. */
  replace(messages: readonly ApiMessage[]): readonly Finding[] {
    return this.#check.replace(Array.isArray(messages) ? messages : []);
  }

  /** Returns what was not found before. */
  append(added: readonly ApiMessage[]): readonly Finding[] {
    return this.#check.append(added);
  }

  /**
   * What to send. Valid until the next `append` or `replace`, which may change this very array;
   * what {@link outbox} gives never does.
   */
  get messages(): readonly ApiMessage[] {
    return this.#check.isUntouched ? this.#check.items : this.#check.messages;
  }

  /** What to send as of now, to be asked for now or later. */
  outbox(): () => readonly ApiMessage[] {
    if (!this.#check.isUntouched) return this.#check.outbox();
    // Such an array only grows, and a replacement makes another.
    const { items } = this.#check;
    const { length } = items;
    return () => items.slice(0, length);
  }

  /** What goes along with the messages, as it was repaired; `messages` in it is empty. */
  get frame(): ApiRequest {
    return this.#check.frame;
  }

  /** All that one check of everything would find now. */
  get findings(): readonly Finding[] {
    return this.#check.findings;
  }

  /** Nothing had to be repaired: the messages are those that were given, one for one. */
  get isUntouched(): boolean {
    return this.#check.isUntouched;
  }

  /** How often all messages were looked at instead of the newest alone. */
  get fullPasses(): number {
    return this.#check.fullPasses;
  }
}

function frameOf(options: CheckedMessagesOptions): Omit<ApiRequest, "messages"> {
  const {
    maxMedia: _media,
    maxRequestBytes: _bytes,
    requireTools: _tools,
    apiVersion: _version,
    consecutiveRoles: _roles,
    prefill: _prefill,
    ...frame
  } = options;
  return frame;
}

function messageForm(frame: Omit<ApiRequest, "messages">): ItemForm<ApiMessage> {
  const tailFrame = { ...withoutOnceChecked(frame), messages: [] };
  return {
    draftWhole: (messages) => draftOf({ ...frame, messages }, messages, 0),
    draftTail: (messages, from) => draftOf(tailFrame, messages, from),
    makesMessages: false,
  };
}

/** System prompt, tools and the automatic cache mark concern the whole alone. */
export function withoutOnceChecked(frame: Omit<ApiRequest, "messages">): Omit<ApiRequest, "messages"> {
  const { system: _system, tools: _tools, cache_control: _mark, ...rest } = frame;
  return rest;
}

function draftOf(request: ApiRequest, messages: readonly ApiMessage[], from: number): Draft {
  const draft = new Draft(request);
  draft.messages = readMessages(draft, messages, from);
  return draft;
}
