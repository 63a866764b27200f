import { type Fit, fitEach, type Gathering, NOTHING, restoredItem, skipping } from "./kind.ts";

/** Only where the notes are: the agent reads them when it needs more than the summary says. */
export async function gatherSessionMemory({ input, state, ask }: Gathering): Promise<Fit> {
  const answer = await ask(state, "sessionMemory");
  if (answer.state === "unanswered") return () => skipping("session-memory", answer.reason);
  const path = answer.state === "absent" ? undefined : (answer.value ?? undefined);
  if (path === undefined || path === "") return () => NOTHING;
  if (typeof path !== "string") return () => skipping("session-memory", "invalid");
  const pointer = () =>
    restoredItem("session-memory", path, { type: "session_memory", path }, input.countTokens);
  return (budgetTokens) => fitEach([[pointer]], budgetTokens);
}
