// Runs one scenario in a copy of the sources. The copy reports each file that the scenario passes through.
// See trace.ts.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const WINDOW_TOKENS = 200_000;
const [scenario = "", home = ""] = process.argv.slice(2);
const source = (path: string): string => new URL(`packages/${path}`, import.meta.url).href;
const visited = new Set<number>();
const record = (isOn: boolean): void => {
  (globalThis as { visit?: unknown }).visit = isOn ? (at: number) => visited.add(at) : undefined;
};

const round = (nth: number, lines: number) => [
  { role: "user", content: `Question ${nth}: what is in berth-${nth}.ts?` },
  {
    role: "assistant",
    content: [{ type: "tool_use", id: `call_${nth}`, name: "Read", input: { file_path: `/p/${nth}.ts` } }],
  },
  {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: `call_${nth}`, content: `line ${nth}\n`.repeat(lines) }],
  },
  { role: "assistant", content: `Answer ${nth}: a tide table.` },
];
const rounds = (count: number, lines: number) =>
  Array.from({ length: count }, (_, nth) => round(nth, lines)).flat();
const NEXT = { role: "user", content: "Please continue." };

async function engine() {
  const { createCompactor } = await import(source("core/src/engine/create-compactor.ts"));
  const request = { system: "You are careful.", max_tokens: 1_000 };
  const [model, environment] = ["claude-haiku-4-5", {}];
  return createCompactor({ model, window: { tokens: WINDOW_TOKENS }, request, settings: { environment } });
}

/** Runs a turn with one new message in a long conversation, and its response. */
async function idleTurn(): Promise<void> {
  const compactor = await engine();
  const messages = [...rounds(20, 200), NEXT];
  const { tokens } = await compactor.before(messages);
  compactor.after({ id: "msg_1", usage: { input_tokens: tokens, output_tokens: 10 } });
  const next = [...messages, { role: "assistant", content: "Done." }, NEXT];
  record(true);
  await compactor.before(next);
  compactor.after({ id: "msg_2", usage: { input_tokens: tokens + 10, output_tokens: 10 } });
  record(false);
}

/** Runs a turn that compacts, without a model. */
async function compaction(): Promise<void> {
  const compactor = await engine();
  const messages = [...rounds(60, 1_500), NEXT];
  record(true);
  const turn = await compactor.compact(messages);
  record(false);
  if (turn.compaction === undefined) throw new Error("Nothing was compacted.");
}

/** Runs `longhaul compact FILE --in-place` on our own session. */
async function inPlace(): Promise<void> {
  const file = join(home, "5f1c7f0e-0000-4000-8000-000000000000.jsonl");
  let parentUuid: string | null = null;
  const lines = [...rounds(60, 1_500), NEXT].map((message, at) => {
    const uuid = `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
    const line = {
      type: message.role,
      uuid,
      parentUuid,
      timestamp: "2026-01-01T00:00:00.000Z",
      sessionId: "s",
      cwd: home,
      message,
    };
    parentUuid = uuid;
    return JSON.stringify(line);
  });
  writeFileSync(file, `${lines.join("\n")}\n`, { mode: 0o600 });
  process.argv = [process.execPath, "longhaul", "compact", file, "--in-place", "--json"];
  record(true);
  await import(source("longhaul/src/main.ts"));
  record(false);
  if (process.exitCode !== 0) throw new Error("The command failed.");
}

const SCENARIOS: Readonly<Record<string, () => Promise<void>>> = { idleTurn, compaction, inPlace };
await SCENARIOS[scenario]?.();
console.log(`visited: ${JSON.stringify([...visited])}`);
