import type { Entry } from "@longhaul/core";

/** A conversation of an agent that read and changed a file a hundred times, in a typical host format. */
export const conversation: readonly Entry[] = Array.from({ length: 100 }, (_, turn) => turnOf(turn)).flat();

function turnOf(turn: number): Entry[] {
  const at = (step: number) => ({
    uuid: `entry-${turn}-${step}`,
    parentUuid: turn + step === 0 ? null : step === 0 ? `entry-${turn - 1}-3` : `entry-${turn}-${step - 1}`,
    timestamp: new Date(Date.UTC(2026, 0, 1, 0, turn, step)).toISOString(),
    sessionId: "example",
  });
  const usage = { input_tokens: 15_000 + turn * 900, output_tokens: 60 };
  return [
    {
      ...at(0),
      type: "user",
      message: { role: "user", content: `Please rename field ${turn} in src/tides.ts.` },
    },
    {
      ...at(1),
      type: "assistant",
      message: {
        role: "assistant",
        id: `msg_${turn}a`,
        content: [
          { type: "tool_use", id: `call_${turn}`, name: "Read", input: { file_path: "src/tides.ts" } },
        ],
      },
    },
    {
      ...at(2),
      type: "user",
      message: {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: `call_${turn}`,
            content: `const field${turn} = 1;\n`.repeat(90),
          },
        ],
      },
    },
    {
      ...at(3),
      type: "assistant",
      message: {
        role: "assistant",
        id: `msg_${turn}b`,
        content: [{ type: "text", text: `Field ${turn} has its new name.` }],
        usage,
      },
    },
  ];
}
