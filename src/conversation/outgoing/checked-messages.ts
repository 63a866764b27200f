import { Draft } from "../check/draft.ts";
import type { Finding } from "../check/finding.ts";
import { readMessages } from "../check/read.ts";
import type { CheckOptions } from "../check/rule.ts";
import { type SchemasByName, schemasByName } from "../check/rules/tool-inputs.ts";
import type { ApiMessage, ApiRequest } from "../message.ts";
import { GrowingCheck, type ItemForm } from "./growing-check.ts";

/** How to check, and what goes along with the messages: model, system, tools, thinking. */
export type CheckedMessagesOptions = CheckOptions & Omit<ApiRequest, "messages">;

/**
 * The one exit, for messages that grow at their end: always what {@link checkRequest} makes of all that was
 * given, at the cost of what is new.
 */
export class CheckedMessages extends GrowingCheck<ApiMessage> {
  constructor(options: CheckedMessagesOptions = {}) {
    super(messageForm(frameOf(options)), options);
  }

  override replace(messages: readonly ApiMessage[]): readonly Finding[] {
    return super.replace(Array.isArray(messages) ? messages : []);
  }

  override get messages(): readonly ApiMessage[] {
    return this.isUntouched ? this.items : super.messages;
  }

  override outbox(): () => readonly ApiMessage[] {
    if (!this.isUntouched) return super.outbox();
    // Such an array only grows, and a replacement makes another.
    const { items } = this;
    const { length } = items;
    return () => items.slice(0, length);
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
  const schemas = schemasByName(frame.tools);
  return {
    draftWhole: (messages) => draftOf({ ...frame, messages }, messages, 0, schemas),
    draftTail: (messages, from) => draftOf(tailFrame, messages, from, schemas),
    makesMessages: false,
  };
}

/** System prompt, tools and the automatic cache mark concern the whole alone. */
export function withoutOnceChecked(frame: Omit<ApiRequest, "messages">): Omit<ApiRequest, "messages"> {
  const { system: _system, tools: _tools, cache_control: _mark, ...rest } = frame;
  return rest;
}

function draftOf(
  request: ApiRequest,
  messages: readonly ApiMessage[],
  from: number,
  schemas: SchemasByName,
): Draft {
  const draft = new Draft(request, { schemas });
  draft.messages = readMessages(draft, messages, from);
  return draft;
}
