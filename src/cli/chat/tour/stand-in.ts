import type { ApiMessage } from "../../../conversation/message.ts";
import { contentBlocks } from "../../../conversation/message.ts";
import { isContinuation } from "../../../summary/continuation.ts";
import type { Behaviour, SeenRequest, Turn } from "../../../testing/simulator/exchange.ts";
import type { TokenCounter } from "../../../testing/simulator/prompt/count.ts";
import type { Scene } from "./scene.ts";
import { isReminder, look, type Sight } from "./sight.ts";

interface Place {
  readonly scene: Scene;
  /** Of the answer to come. */
  readonly step: number;
}

const ID = /^toolu_tour_([a-z]+)_(\d+)_/;

/**
 * Plays the model by scenes: each request of the person that a scene knows, with the tools of the request. Where it is, it
 * reads from the ids of its own calls, so that emptied results and compactions do not matter; only where a compaction
 * left no call at all, it goes by what it did last. Whatever no scene knows is left to the next behaviour.
 */
export function standIn(scenes: readonly Scene[], counter: TokenCounter): Behaviour {
  let last: Place | undefined;
  return (request) => {
    const found = placeIn(request.messages, scenes);
    const place = found === "only-a-summary" ? last : found;
    if (place === undefined) return undefined;
    const { turn, isLast } = play(place, request, look(request, counter));
    last = isLast ? undefined : { ...place, step: place.step + 1 };
    return turn;
  };
}

function play(
  { scene, step }: Place,
  request: SeenRequest,
  sight: Sight,
): { readonly turn: Turn; readonly isLast: boolean } {
  const { name, steps, enough, answer } = scene;
  const next = steps[step];
  if (next === undefined || (enough !== undefined && step >= enough.from && enough.is(sight))) {
    return { turn: { blocks: [{ type: "text", text: answer(sight) }] }, isLast: true };
  }
  const { say, calls } = next(sight);
  const blocks: Turn["blocks"] = [
    ...(say === undefined ? [] : [{ type: "text" as const, text: say }]),
    ...calls.map(({ tool, input }, index) => ({
      type: "tool_use" as const,
      // The number of the request makes it the only one, whatever was taken back and asked again.
      id: `toolu_tour_${name}_${step}_${index}_${request.index}`,
      name: tool,
      input,
    })),
  ];
  return { turn: { blocks }, isLast: false };
}

/** From the newest message back: a call of ours, or something that a person said. */
function placeIn(
  messages: readonly ApiMessage[],
  scenes: readonly Scene[],
): Place | "only-a-summary" | undefined {
  for (const { role, content } of messages.toReversed()) {
    const blocks = contentBlocks(content);
    if (role === "assistant") return placeOfCalls(blocks, scenes);
    const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text.trim()] : []));
    const scene = scenes.find(({ prompt }) => texts.includes(prompt));
    if (scene !== undefined) return { scene, step: 0 };
    if (texts.some(isContinuation)) return "only-a-summary";
    const isAnswered = blocks.some(({ type }) => type === "tool_result");
    if (!isAnswered && texts.some((text) => text !== "" && !isReminder(text))) return undefined;
  }
  return undefined;
}

function placeOfCalls(blocks: ReturnType<typeof contentBlocks>, scenes: readonly Scene[]): Place | undefined {
  for (const block of blocks) {
    const [, name, step] = block.type === "tool_use" ? (ID.exec(block.id) ?? []) : [];
    const scene = scenes.find((one) => one.name === name);
    if (scene !== undefined) return { scene, step: Number(step) + 1 };
  }
  return undefined;
}
