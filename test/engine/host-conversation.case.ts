import type { ApiMessage, ContentBlock, Message, ModelReply } from "@longhaul/core";
import type { EntryLink } from "@longhaul/core/messages";
import { contentBlocks } from "../../packages/core/src/messages/message.ts";

/**
 * With `messages with reminders`, the newest message has a reminder. When a newer message arrives, the host
 * removes the reminder.
 */
export type Form = "messages" | "entries" | "messages with reminders";

/** The form in which a host keeps its conversation: API messages, or entries of a session. */
export interface HostConversation {
  readonly messages: readonly Message[];
  /** Adopts the messages that the engine returned. */
  resumeFrom(messages: readonly Message[]): void;
  addReply(reply: ModelReply): void;
  addUser(content: readonly ContentBlock[] | string): void;
}

/** Returns the content that the model sees, independent of its split into blocks. */
export const shown = (
  messages: readonly { readonly role: string; readonly content: unknown }[],
): readonly string[] =>
  messages.map(({ role, content }) => {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return JSON.stringify([role, blocks]).replaceAll(/,"cache_control":\{[^}]*\}/g, "");
  });

export interface ConversationPorts {
  readonly now: () => Date;
  readonly newUuid: () => string;
}

export function hostConversation(form: Form, ports: ConversationPorts): HostConversation {
  if (form === "entries") return new EntryConversation(ports);
  return form === "messages" ? new PlainConversation() : new RemindingConversation();
}

class PlainConversation implements HostConversation {
  #messages: readonly Message[] = [];

  get messages(): readonly Message[] {
    return this.#messages;
  }

  resumeFrom(messages: readonly Message[]): void {
    this.#messages = messages;
  }

  addReply({ content }: ModelReply): void {
    this.#messages = [...this.#messages, { role: "assistant", content }];
  }

  addUser(content: readonly ContentBlock[] | string): void {
    this.#messages = [...this.#messages, { role: "user", content }];
  }
}

const REMINDER = { type: "text", text: "<system-reminder>Mind the tests.</system-reminder>" } as const;

/**
 * A host that adds a reminder to its newest message without storing the reminder. All message objects are new
 * in each turn.
 */
class RemindingConversation extends PlainConversation {
  override get messages(): readonly Message[] {
    const held = super.messages as readonly ApiMessage[];
    return held.map(({ role, content }, at) => {
      const isNewest = at === held.length - 1;
      return { role, content: isNewest ? [...contentBlocks(content), REMINDER] : content };
    });
  }

  override resumeFrom(messages: readonly Message[]): void {
    const isReminder = (block: ContentBlock): boolean =>
      block.type === "text" && block.text === REMINDER.text;
    super.resumeFrom(
      (messages as readonly ApiMessage[]).map(({ role, content }) =>
        typeof content === "string"
          ? { role, content }
          : { role, content: contentBlocks(content).filter((block) => !isReminder(block)) },
      ),
    );
  }
}

class EntryConversation implements HostConversation {
  readonly #ports: ConversationPorts;
  #entries: readonly Message[] = [];

  constructor(ports: ConversationPorts) {
    this.#ports = ports;
  }

  get messages(): readonly Message[] {
    return this.#entries;
  }

  resumeFrom(messages: readonly Message[]): void {
    this.#entries = messages;
  }

  /** Adds a reply like an agent: one entry per block, all with the id and the usage of the response. */
  addReply({ id, model, content, usage }: ModelReply): void {
    for (const block of content) {
      this.#add({
        ...this.#link(),
        type: "assistant",
        message: { id, model, role: "assistant", content: [block], usage },
      });
    }
  }

  addUser(content: readonly ContentBlock[] | string): void {
    this.#add({ ...this.#link(), type: "user", message: { role: "user", content } });
  }

  #link(): EntryLink {
    const last = this.#entries.findLast((entry) => "uuid" in entry && entry.uuid !== undefined);
    const parentUuid = last !== undefined && "uuid" in last ? (last.uuid ?? null) : null;
    const timestamp = this.#ports.now().toISOString();
    return { uuid: this.#ports.newUuid(), parentUuid, timestamp, sessionId: "engine-test" };
  }

  #add(entry: Message): void {
    this.#entries = [...this.#entries, entry];
  }
}
