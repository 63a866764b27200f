import { firstString } from "../conversation/untrusted.ts";
import { announcedIn, isAnnouncedIn } from "./announced.ts";
import type { Happening } from "./happenings.ts";
import type { McpInstructions } from "./host-state.ts";
import {
  type Fit,
  firstOfEach,
  fitEach,
  type Gathering,
  NOTHING,
  readList,
  restoredItem,
  skipping,
} from "./kind.ts";

const DELTA = "mcp_instructions_delta";

/** How the tool servers want to be used. Each is put back on its own, so that a long one costs only itself. */
export async function gatherMcpInstructions({ input, state, ask, happenings }: Gathering): Promise<Fit> {
  const answer = await ask(state, "mcpInstructions");
  if (answer.state === "unanswered") return () => skipping("mcp-instructions", answer.reason);
  if (answer.state === "absent" && !isAnnouncedIn(input.summarised, DELTA)) return () => NOTHING;
  const list = answer.state === "absent" ? mcpInstructionsIn(happenings) : answer.value;
  const { values, skipped } = readList("mcp-instructions", list, readInstructions);
  const servers = firstOfEach(values, ({ server }) => server);
  const forms = servers.map(({ server, text }) => {
    const block = text.startsWith("## ") ? text : `## ${server}\n${text}`;
    const attachment = { type: DELTA, addedNames: [server], addedBlocks: [block], removedNames: [] };
    return [() => restoredItem("mcp-instructions", server, attachment, input.countTokens)];
  });
  return (budgetTokens) => fitEach(forms, budgetTokens, skipped);
}

function readInstructions(item: unknown): McpInstructions | undefined {
  const server = firstString(item, "server");
  const text = firstString(item, "text");
  return server === undefined || text === undefined || text.trim() === "" ? undefined : { server, text };
}

/** As the servers were announced one by one, without those that have gone since. */
function mcpInstructionsIn(happenings: Iterable<Happening>): readonly McpInstructions[] {
  const announced = announcedIn(happenings, DELTA, {
    added: "addedNames",
    words: "addedBlocks",
    removed: "removedNames",
  });
  return [...announced].map(([server, text]) => ({ server, text }));
}
