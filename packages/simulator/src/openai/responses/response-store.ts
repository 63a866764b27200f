import type { JsonRecord } from "@longhaul/core/internal/messages";
import { LRUCache } from "lru-cache";
import type { ResponsesMemory } from "../request.ts";
import type { ResponseObject } from "./response-object.ts";

/**
 * Number of responses that all projects together keep. The API keeps responses for 30 days. A simulator that
 * runs for weeks must not fill the memory, so it forgets the response that was unused for the longest time.
 */
const KEPT_RESPONSES = 2_000;
/**
 * Total size in bytes of the responses, and again of the items. A client may send its whole conversation with
 * every call, so a limit for the number alone would allow several gigabytes.
 */
const KEPT_BYTES = 200_000_000;
/** Number of items that references and rules find by id. */
const KEPT_ITEMS = 20 * KEPT_RESPONSES;
/** Number of conversations that all projects together keep. */
const KEPT_CONVERSATIONS = 500;

export interface StoredResponse {
  readonly response: ResponseObject;
  /** Input items of the request itself, without earlier items. All have ids. */
  readonly input: readonly JsonRecord[];
  readonly previousId: string | undefined;
  /** True if the client asked for a stream. Only then it can ask for the stream again. */
  readonly isStreamed: boolean;
  /** Number of times that a client asked for the response since it was created in the background. */
  polls: number;
  /** True if the stream was sent to its end, so that a poll cannot find the response in progress. */
  isStreamEnded: boolean;
  /** True for a response in the background that the client cancelled. */
  isCancelled: boolean;
}

export interface StoredConversation {
  readonly id: string;
  readonly createdAt: number;
  metadata: unknown;
  items: readonly JsonRecord[];
}

interface KnownItem {
  readonly item: JsonRecord;
  readonly requiredReasoning: string | undefined;
}

/** Responses, items and conversations that the API stores. Each project sees only its own. */
export class ResponseStore {
  readonly #responses = new LRUCache<string, StoredResponse>({
    max: KEPT_RESPONSES,
    maxSize: KEPT_BYTES,
  });
  readonly #items = new LRUCache<string, KnownItem>({ max: KEPT_ITEMS, maxSize: KEPT_BYTES });
  readonly #conversations = new LRUCache<string, StoredConversation>({ max: KEPT_CONVERSATIONS });

  /** @param inputBytes size of the request, which is also the size of its items */
  save(
    project: string,
    stored: Omit<StoredResponse, "polls" | "isStreamEnded" | "isCancelled">,
    inputBytes: number,
  ): void {
    const { response, input } = stored;
    const outputBytes = sizeOf(response.output);
    const size = inputBytes + outputBytes;
    this.#responses.set(
      key(project, response.id),
      { ...stored, polls: 0, isStreamEnded: false, isCancelled: false },
      { size },
    );
    this.keepItems(project, input, inputBytes);
    this.keepItems(project, response.output, outputBytes);
  }

  find(project: string, id: string): StoredResponse | undefined {
    return this.#responses.get(key(project, id));
  }

  /** Remembers that the stream of a response in the background was sent to its end. */
  endStream(project: string, id: string): void {
    const stored = this.find(project, id);
    if (stored !== undefined) stored.isStreamEnded = true;
  }

  /** Forgets a response. Its items stay known, because later responses may contain them. */
  delete(project: string, id: string): boolean {
    return this.#responses.delete(key(project, id));
  }

  /**
   * Returns the input and output items of a response and of all responses before it, oldest first. Undefined if
   * one of them is unknown.
   */
  history(project: string, id: string): readonly JsonRecord[] | undefined {
    const parts: (readonly JsonRecord[])[] = [];
    for (let next: string | undefined = id; next !== undefined; ) {
      const stored = this.find(project, next);
      if (stored === undefined) return undefined;
      parts.push(stored.response.output, stored.input);
      next = stored.previousId;
    }
    return parts.reverse().flat();
  }

  findItem(project: string, id: string): JsonRecord | undefined {
    return this.#items.get(key(project, id))?.item;
  }

  /** Remembers items by id, each with the last reasoning item before it in the same list. */
  keepItems(project: string, items: readonly JsonRecord[], bytes: number = sizeOf(items)): void {
    const size = Math.ceil(bytes / items.length);
    let requiredReasoning: string | undefined;
    for (const item of items) {
      if (typeof item.id !== "string") continue;
      const known = this.#items.get(key(project, item.id));
      // An item that comes back as input keeps the reasoning of the output that it was part of.
      this.#items.set(key(project, item.id), known ?? { item, requiredReasoning }, { size });
      if (item.type === "reasoning") requiredReasoning = item.id;
      else if (isOfClient(item)) requiredReasoning = undefined;
    }
  }

  memoryOf(project: string, writtenContent: ResponsesMemory["writtenContent"]): ResponsesMemory {
    return {
      storedItem: (id) => this.findItem(project, id),
      requiredReasoning: (id) => this.#items.get(key(project, id))?.requiredReasoning,
      writtenContent,
    };
  }

  addConversation(project: string, conversation: StoredConversation): void {
    this.#conversations.set(key(project, conversation.id), conversation);
    this.keepItems(project, conversation.items);
  }

  conversation(project: string, id: string): StoredConversation | undefined {
    return this.#conversations.get(key(project, id));
  }

  deleteConversation(project: string, id: string): boolean {
    return this.#conversations.delete(key(project, id));
  }

  extendConversation(project: string, conversation: StoredConversation, items: readonly JsonRecord[]): void {
    conversation.items = [...conversation.items, ...items];
    this.keepItems(project, items);
  }
}

const sizeOf = (items: readonly JsonRecord[]): number => JSON.stringify(items).length;

const key = (project: string, id: string): string => `${project}/${id}`;

/** True for messages of the user and outputs of tools. Reasoning before them belongs to an earlier turn. */
const isOfClient = ({ type, role }: JsonRecord): boolean =>
  role === "user" || (typeof type === "string" && type.endsWith("_output"));
