import type { ContentBlock, Message, ModelReply } from "@longhaul/core";
import type { Chance } from "./chance.ts";
import type { Setup } from "./setup.ts";
import { openingMarker } from "./texts.ts";

export interface ListPorts {
  readonly now: () => Date;
  readonly newUuid: () => string;
}

type Content = string | readonly ContentBlock[];

/** The host's two lists: everything that it ever appended, and the latest list from the engine. */
export class HostLists {
  full: readonly Message[] = [];
  taken: readonly Message[] = [];
  form: Setup["form"];
  readonly #setup: Setup;
  readonly #chance: Chance;
  readonly #ports: ListPorts;

  constructor(setup: Setup, chance: Chance, ports: ListPorts) {
    this.#setup = setup;
    this.#chance = chance;
    this.#ports = ports;
    this.form = setup.form;
  }

  /** Returns the list for the next call, according to the list mode of this host. */
  pass(): readonly Message[] {
    const { mode, copies } = this.#setup;
    const takes = mode === "take" || (mode === "alternate" && this.#chance.is(0.5));
    const list = takes ? this.taken : this.full;
    return this.#chance.is(copies) ? (JSON.parse(JSON.stringify(list)) as readonly Message[]) : list;
  }

  /**
   * Returns true if each list that this host may pass ends with a user message. After an undo, one list may
   * end with a reply.
   */
  get asksForReply(): boolean {
    const { mode } = this.#setup;
    const lists = [...(mode === "take" ? [] : [this.full]), ...(mode === "full" ? [] : [this.taken])];
    return lists.every((list) => list.map(roleOf).findLast((role) => role !== undefined) === "user");
  }

  take(messages: readonly Message[]): void {
    this.taken = messages;
  }

  /** Starts a new process, which has only the messages of the session file. */
  resume(messages: readonly Message[]): void {
    this.full = messages;
    this.taken = messages;
    this.form = "entries";
  }

  addUser(content: Content): void {
    if (this.form === "messages") this.#append({ role: "user", content } as Message);
    else this.#append({ ...this.#link(), type: "user", message: { role: "user", content } } as Message);
  }

  /** Adds a reply like an agent: one entry for each block, all with the id of the response. */
  addReply({ id, model, content, usage }: ModelReply): void {
    if (this.form === "messages") this.#append({ role: "assistant", content } as Message);
    else this.#appendBlocks({ id, model, content, usage });
  }

  #appendBlocks({ id, model, content, usage }: Pick<ModelReply, "id" | "model" | "content" | "usage">): void {
    for (const block of content) {
      const message = { id, model, role: "assistant", content: [block], usage };
      this.#append({ ...this.#link(), type: "assistant", message } as unknown as Message);
    }
  }

  /** Applies the same edit to both lists. */
  edit(change: (list: readonly Message[]) => readonly Message[]): void {
    this.full = change(this.full);
    this.taken = change(this.taken);
  }

  /** Returns the messages that both lists contain as separate messages, oldest first. */
  get common(): readonly Message[] {
    const known = new Set(this.full.flatMap((message) => ownMarkers(message)));
    return this.taken.filter((message) => {
      const markers = ownMarkers(message);
      return markers.length > 0 && markers.every((marker) => known.has(marker));
    });
  }

  #append(message: Message): void {
    this.full = [...this.full, message];
    this.taken = [...this.taken, message];
  }

  #link(): object {
    const last = this.taken.findLast((message) => "uuid" in message && typeof message.uuid === "string");
    return {
      uuid: this.#ports.newUuid(),
      parentUuid: last !== undefined && "uuid" in last ? last.uuid : null,
      timestamp: this.#ports.now().toISOString(),
      sessionId: "soak",
    };
  }
}

/** Returns the role and the content of a message in either form. Undefined for entries of other types. */
export function bodyOf(message: Message): { readonly role: string; readonly content: Content } | undefined {
  if ("role" in message) return message as { readonly role: string; readonly content: Content };
  if (message.type !== "user" && message.type !== "assistant") return undefined;
  return message.message as { readonly role: string; readonly content: Content };
}

const textsOf = (block: ContentBlock): readonly string[] => {
  if (block.type === "text") return [block.text];
  if (block.type !== "tool_result") return [];
  if (typeof block.content === "string") return [block.content];
  return (block.content ?? []).flatMap((inner) => textsOf(inner as ContentBlock));
};

/** Returns the markers at the start of the message's texts. A summary only quotes markers inside its text. */
export function ownMarkers(message: Message): readonly string[] {
  const content = bodyOf(message)?.content ?? "";
  const texts = typeof content === "string" ? [content] : content.flatMap(textsOf);
  return texts.map(openingMarker).filter((marker) => marker !== undefined);
}

export const hasBlock = (message: Message | undefined, type: ContentBlock["type"]): boolean => {
  const content = message === undefined ? undefined : bodyOf(message)?.content;
  return Array.isArray(content) && content.some((block) => (block as ContentBlock).type === type);
};

export const roleOf = (message: Message | undefined): string | undefined =>
  message === undefined ? undefined : bodyOf(message)?.role;
