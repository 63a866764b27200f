import type { Message, Turn } from "@longhaul/core";
import { claudeFeatures } from "@longhaul/core/measure";
import type { SnipSelection } from "@longhaul/core/modules";
import type { Conversation } from "./conversation.ts";
import { Conversation as Host } from "./conversation.ts";
import { drawFault } from "./faults.ts";
import { bodyOf, hasBlock, ownMarkers, roleOf } from "./host-lists.ts";
import type { World } from "./world.ts";

type Step = (main: Conversation, world: World) => Promise<void>;

/** All steps of a schedule, with their weights. */
const STEPS: Readonly<Record<string, { readonly weight: number; readonly run: Step }>> = {
  turn: { weight: 60, run: (main) => main.turn() },
  "several turns": { weight: 12, run: severalTurns },
  "say twice": { weight: 3, run: async (main) => main.say() },
  pause: {
    weight: 4,
    run: async (_, { time, chance }) => time.advance(chance.pick([60_000, 400_000, 7_200_000])),
  },
  compact: { weight: 5, run: compact },
  "compact from": { weight: 3, run: (main) => compactAt(main, "from") },
  "compact up to": { weight: 3, run: (main) => compactAt(main, "upTo") },
  clear: { weight: 3, run: clear },
  snip: { weight: 4, run: snip },
  undo: { weight: 5, run: undo },
  redo: { weight: 3, run: redo },
  expand: { weight: 3, run: expand },
  subagents: { weight: 4, run: subagents },
  restart: { weight: 4, run: (main, { chance }) => main.restart(chance.is(0.6)) },
  "switch thinking": { weight: 2, run: switchThinking },
  "mutate a message": { weight: 3, run: mutate },
  "replace a message": { weight: 3, run: replace },
  "drop the last message": { weight: 3, run: dropLast },
  rewind: { weight: 2, run: rewind },
};

const WEIGHTS = Object.fromEntries(Object.entries(STEPS).map(([name, { weight }]) => [name, weight]));

export async function runStep(main: Conversation, world: World): Promise<void> {
  const { chance, setup, provider } = world;
  const name = world.steps.length === 0 ? "several turns" : chance.weighted(WEIGHTS);
  world.begin(name);
  if (chance.is(setup.faults)) {
    const fault = drawFault(chance, setup.windowTokens);
    const times = chance.pick([1, 1, 2, 3]);
    const isAnything = chance.is(0.2);
    world.note(
      `{${fault.kind}${"status" in fault ? ` ${fault.status}` : ""}${times > 1 ? ` x${times}` : ""}}`,
    );
    if (fault.kind === "status" && fault.message !== undefined) world.areFiguresTrue = false;
    provider.fail(fault, { times, ...(isAnything ? { when: () => true } : {}) });
  }
  await STEPS[name]?.run(main, world);
  world.examineEngineRequests();
}

async function severalTurns(main: Conversation, { chance }: World): Promise<void> {
  const turns = chance.between(2, 6);
  for (let turn = 0; turn < turns; turn++) await main.turn();
}

async function compact(main: Conversation, { chance }: World): Promise<void> {
  const options = {
    force: chance.is(0.6),
    ...(chance.is(0.2) ? { instructions: "Keep the names of all files." } : {}),
    ...(chance.is(0.3) ? { keepRecentTokens: chance.pick([0, 1_000, 8_000]) } : {}),
  };
  await main.operate("compact", (messages, signal) =>
    main.compactor.compact(messages, { ...options, signal }),
  );
}

async function compactAt(main: Conversation, end: "from" | "upTo"): Promise<void> {
  const { chance } = main.world;
  await main.operate(`compact ${end}`, (messages, signal) => {
    const at = chance.between(0, Math.max(0, messages.length - 1));
    const uuid = uuidOf(messages[at]);
    main.world.note(`${at} of ${messages.length}`);
    return main.compactor.compact(messages, {
      [end]: uuid !== undefined && chance.is(0.5) ? uuid : at,
      force: true,
      signal,
    });
  });
}

/** Clears results, but always keeps those that the model has not seen. */
async function clear(main: Conversation, { chance }: World): Promise<void> {
  const unseen = main.journal.all.filter(
    ({ kind, isLive, isSeen }) => kind === "result" && isLive && !isSeen,
  );
  const keep = unseen.length + chance.between(0, 3);
  await main.operate("clear", (messages) => main.compactor.clear(messages, { keep }));
}

async function snip(main: Conversation, { chance }: World): Promise<void> {
  await main.operate("snip", (messages) => {
    const last = Math.max(0, messages.length - 4);
    const from = chance.between(0, last);
    const uuid = uuidOf(messages[from]);
    const choices: SnipSelection[] = [
      { from, to: Math.min(last, from + chance.between(0, 4)) },
      { keepLastTurns: chance.between(1, 3) },
      ...(uuid === undefined ? [] : [{ ids: [uuid] }]),
    ];
    const choice = chance.pick(choices);
    main.world.note(JSON.stringify(choice).slice(0, 40));
    return main.compactor.snip(messages, choice);
  });
}

async function undo(main: Conversation, { chance }: World): Promise<void> {
  const times = chance.pick([1, 1, 2, 3]);
  for (let time = 0; time < times; time++) {
    const before = new Set(main.lists.taken.flatMap(ownMarkers));
    const turn = await main.operate("undo", (messages, signal) => main.compactor.undo(messages, { signal }));
    if (turn !== undefined) examineUndo(main, before, turn);
  }
}

/** Checks that the undo of a compaction or a snip restores messages and hides none. */
function examineUndo(
  { journal, events, world }: Conversation,
  before: ReadonlySet<string>,
  turn: Turn,
): void {
  const undone = events.findLast((event) => event.type === "undone");
  if (undone?.step !== "compaction" && undone?.step !== "snip") return;
  const after = new Set(turn.messages.flatMap(ownMarkers));
  const hidden = journal.given.filter(
    ({ kind, marker }) => kind !== "result" && before.has(marker) && !after.has(marker),
  );
  world.report(...hidden.map(({ kind, marker }) => ({ kind: `undo hides ${kind}`, detail: marker })));
}

async function redo(main: Conversation): Promise<void> {
  await main.operate("redo", (messages, signal) => main.compactor.redo(messages, { signal }));
}

async function expand(main: Conversation): Promise<void> {
  if (!main.world.setup.headroom.endsWith("collapse")) return main.turn();
  await main.operate("expand", (messages) => main.compactor.expand(messages));
}

/** Runs subagents in parallel with the main conversation. */
async function subagents(main: Conversation, world: World): Promise<void> {
  const { chance } = world;
  const names = Array.from({ length: chance.between(1, 3) }, () => `agent-${world.newUuid().slice(0, 8)}`);
  const agents = await Promise.all(names.map((name) => Host.open(world, name, main.compactor)));
  const turns = agents.map(() => chance.between(2, 6));
  const works = agents.map(async (agent, at) => {
    for (let turn = 0; turn < (turns[at] ?? 1); turn++) await agent.turn();
    await agent.end();
  });
  const outcomes = await Promise.allSettled([main.turn(), ...works]);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

/** Switches thinking only before a user message. Inside a chain of tool calls, the API refuses the change. */
async function switchThinking(main: Conversation, { chance, setup }: World): Promise<void> {
  if (roleOf(main.lists.full.at(-1)) !== "assistant") await main.turn();
  if (roleOf(main.lists.full.at(-1)) !== "assistant") return;
  const modes = claudeFeatures(setup.model).thinkingModes;
  main.thinking = chance.is(0.3) ? undefined : chance.pick(modes);
  main.world.note(String(main.thinking));
}

/** Returns the messages of a person that contain only text, in both lists. */
const plainMessages = (main: Conversation): readonly Message[] =>
  main.lists.common.filter(
    (message) =>
      roleOf(message) === "user" && !hasBlock(message, "tool_result") && !hasBlock(message, "image"),
  );

/** Changes one of the host's own objects in place. */
async function mutate(main: Conversation, { chance, texts }: World): Promise<void> {
  const { lists, journal } = main;
  const candidates = plainMessages(main).filter((message) => lists.full.includes(message));
  if (candidates.length === 0) return;
  const body = bodyOf(chance.pick(candidates)) as { content: unknown };
  const text = texts.text(chance.between(5, 60));
  const before = body.content;
  const blocks =
    typeof before === "string" ? [{ type: "text", text: before }] : (before as readonly object[]);
  try {
    body.content = [...blocks, { type: "text", text }];
  } catch {
    return;
  }
  journal.add("user", text);
}

/** Replaces an old message with another one. */
async function replace(main: Conversation, { chance, texts }: World): Promise<void> {
  const candidates = plainMessages(main);
  if (candidates.length === 0) return;
  const markers = new Set(ownMarkers(chance.pick(candidates)));
  const text = texts.text(chance.between(5, 200));
  const renamed = chance.is(0.5) ? { uuid: main.world.newUuid() } : {};
  main.world.note("uuid" in renamed ? "(new id)" : "(same id)");
  editLists(main, (list) =>
    list.map((message) => {
      if (!ownMarkers(message).some((marker) => markers.has(marker))) return message;
      return "role" in message
        ? ({ ...message, content: text } as Message)
        : ({ ...message, ...renamed, message: { role: "user", content: text } } as Message);
    }),
  );
  main.journal.retract(markers);
  main.journal.add("user", text);
}

/**
 * Edits both lists. The edit may also remove the engine's pointer to the session file. The pointer can be in
 * the same message as a text of the host, because roles must alternate.
 */
function editLists(main: Conversation, edit: (list: readonly Message[]) => readonly Message[]): void {
  const namesFile = (): boolean => JSON.stringify(main.lists.taken).includes(main.view.shownPath);
  const wasNamed = namesFile();
  main.lists.edit(edit);
  if (wasNamed && !namesFile()) main.journal.removePointer(new Set(main.lists.taken.flatMap(ownMarkers)));
}

/** Removes the last message. Results are removed together with their calls. */
async function dropLast(main: Conversation): Promise<void> {
  const { full } = main.lists;
  let cut = full.length - 1;
  if (hasBlock(full[cut], "tool_result")) cut -= 1;
  while (cut > 0 && roleOf(full[cut]) === "assistant" && roleOf(full[cut - 1]) === "assistant") cut -= 1;
  if (cut < 1) return;
  cutFrom(main, full.length - cut);
}

/** Rewinds to the point before a message of a person. */
async function rewind(main: Conversation, { chance }: World): Promise<void> {
  const candidates = plainMessages(main).slice(1);
  if (candidates.length === 0) return;
  const markers = new Set(ownMarkers(chance.pick(candidates)));
  const { full, taken } = main.lists;
  const isStart = (message: Message): boolean => ownMarkers(message).some((marker) => markers.has(marker));
  const [inFull, inTaken] = [full.findIndex(isStart), taken.findIndex(isStart)];
  if (inFull < 1 || inTaken < 1) return;
  main.journal.retract(full.slice(inFull).flatMap(ownMarkers));
  editLists(main, (list) => (list === full ? full.slice(0, inFull) : taken.slice(0, inTaken)));
}

/** Cuts the newest messages off both lists, if both lists end with the same messages. */
function cutFrom(main: Conversation, count: number): void {
  const { full, taken } = main.lists;
  const markers = (list: readonly Message[]): string => list.slice(-count).flatMap(ownMarkers).join();
  if (taken.length <= count || markers(full) !== markers(taken)) return;
  main.journal.retract(full.slice(-count).flatMap(ownMarkers));
  editLists(main, (list) => list.slice(0, -count));
}

const uuidOf = (message: Message | undefined): string | undefined =>
  message !== undefined && "uuid" in message && typeof message.uuid === "string" ? message.uuid : undefined;
