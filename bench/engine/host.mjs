// A typical host of the engine: it keeps the conversation, and adds a call and its result each turn.
import { createCompactor, messageSnip } from "@longhaul/core";

/** A window that is so large that nothing is ever compacted. */
export const ENDLESS_WINDOW = 1_000_000_000;
const MODEL = "claude-sonnet-5";
/** Texts of new messages. Their lengths are the same at every size of the conversation. */
const CALL_TEXT =
  "The limits are read in one place and checked in another; I look at both before I change them. ";
const RESULT_LINE = "  const remaining = limits.perHour - used; // what is left of the quota\n";
const CALL_REPEATS = 3;
const RESULT_REPEATS = 14;

let turnsMade = 0;

/**
 * Returns two messages. The assistant's message has a call and about 300 characters. The user's message has
 * its result and about 1,000 characters. Both differ in each turn.
 */
function newMessages(resultRepeats = RESULT_REPEATS) {
  const number = ++turnsMade;
  const id = `toolu_engine_${number}`;
  const call = {
    type: "tool_use",
    id,
    name: "Read",
    input: { file_path: `/home/mara/code/harbour/${number}.ts` },
  };
  const content = `${number}\n${RESULT_LINE.repeat(resultRepeats)}`;
  const messages = [
    { role: "assistant", content: [{ type: "text", text: CALL_TEXT.repeat(CALL_REPEATS) }, call] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] },
  ];
  // Makes the strings flat, like strings from the network. Repetition creates ropes instead.
  return JSON.parse(JSON.stringify(messages));
}

function newEntries(parentUuid, usage, resultRepeats) {
  const [assistant, user] = newMessages(resultRepeats);
  const number = turnsMade;
  const link = (part) => ({
    uuid: `e${part}-${number}`,
    timestamp: new Date().toISOString(),
    sessionId: "bench",
    isSidechain: false,
  });
  const message = { id: `msg_${number}`, model: MODEL, ...assistant, usage };
  const first = { ...link("a"), parentUuid, type: "assistant", message };
  return [first, { ...link("u"), parentUuid: first.uuid, type: "user", message: user }];
}

/**
 * One conversation with its compactor.
 * @param form `messages` (role and content) or `entries`
 * @param grows `push`: the host's own array grows; `spread`: a new array each turn
 */
export class Host {
  #form;
  #grows;
  #messages;
  #turn;

  constructor({ form = "messages", grows = "push", ...options } = {}) {
    this.#form = form;
    this.#grows = grows;
    this.compactor = createCompactor({
      model: MODEL,
      settings: { environment: {} },
      modules: [messageSnip()],
      ...options,
    });
  }

  get messages() {
    return this.#messages;
  }

  /** Tokens of the last turn by the compactor's count. */
  get tokens() {
    return this.#turn.tokens;
  }

  async open(conversation) {
    this.#messages = [...conversation[this.#form]];
    this.#turn = await this.compactor.before(this.#messages);
    return this.#turn;
  }

  /** Adds the model's answer and the tool result. */
  respond({ resultRepeats, isReported = true } = {}) {
    const usage = {
      input_tokens: 4,
      cache_creation_input_tokens: 500,
      cache_read_input_tokens: Math.max(0, this.#turn.tokens - 504),
      output_tokens: 90,
    };
    const startedAt = performance.now();
    if (isReported) this.compactor.after({ id: `msg_${turnsMade + 1}`, model: MODEL, usage });
    const afterMs = performance.now() - startedAt;
    const added =
      this.#form === "messages"
        ? newMessages(resultRepeats)
        : newEntries(this.#messages.at(-1).uuid ?? null, usage, resultRepeats);
    if (this.#grows === "push") this.#messages.push(...added);
    else this.#messages = [...this.#messages, ...added];
    return afterMs;
  }

  async before() {
    const startedAt = performance.now();
    this.#turn = await this.compactor.before(this.#messages);
    const beforeMs = performance.now() - startedAt;
    this.#messages = this.#turn.messages;
    return { turn: this.#turn, beforeMs };
  }
}
