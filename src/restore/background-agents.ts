import { contentText, field, firstString, stringField } from "../conversation/untrusted.ts";
import type { BackgroundAgent } from "./host-state.ts";
import { firstOfEach, fitEach, type Gather, hostOr, readList, restoredItem } from "./restored.ts";
import { type AnsweredCall, type SessionEvent, textOf } from "./session-events.ts";

/** Agents in the background whose result the agent does not have yet, so that none is started twice. */
export const gatherAgents: Gather = hostOr(
  "agents",
  "agents",
  ({ events }) => agentsIn(events),
  (list, { input }) => {
    const { values, skipped } = readList("agents", list, readAgent);
    const forms = firstOfEach(values, ({ id }) => id).map(({ id, description, status, outputPath }) => {
      const output = outputPath === undefined ? {} : { outputFilePath: outputPath };
      const task = { taskId: id, taskType: "local_agent", description, status, deltaSummary: null };
      return [
        () => restoredItem("agents", id, { type: "task_status", ...task, ...output }, input.countTokens),
      ];
    });
    return (budgetTokens) => fitEach(forms, budgetTokens, skipped);
  },
);

function readAgent(item: unknown): BackgroundAgent | undefined {
  const id = firstString(item, "id");
  const status = STATUSES.get(stringField(item, "status") ?? "");
  if (id === undefined || status === undefined) return undefined;
  const outputPath = firstString(item, "outputPath");
  const description = firstString(item, "description") ?? "";
  return { id, description, status, ...(outputPath === undefined ? {} : { outputPath }) };
}

/** What agents have called the states. */
const STATUSES: ReadonlyMap<string, BackgroundAgent["status"]> = new Map([
  ["pending", "running"],
  ["running", "running"],
  ["completed", "completed"],
  ["failed", "failed"],
  ["stopped", "stopped"],
  ["killed", "stopped"],
]);

/** Those launched and not heard of since, and those that ended without their result having been told. */
export function agentsIn(events: Iterable<SessionEvent>): readonly BackgroundAgent[] {
  const ledger = new AgentLedger();
  for (const event of events) {
    if (event.what === "call") ledger.call(event.call);
    else if (event.what === "message") ledger.told(() => textOf(event.entry));
    else if (event.type === "queued_command") ledger.told(() => contentText(event.attachment.prompt));
    else if (event.type === "task_status") ledger.status(event.attachment);
  }
  return ledger.agents();
}

class AgentLedger {
  readonly #agents = new Map<string, BackgroundAgent>();

  agents(): readonly BackgroundAgent[] {
    return [...this.#agents.values()];
  }

  call(call: AnsweredCall): void {
    const mayStart = LAUNCHING_TOOLS.has(call.name) || call.name === "SendMessage";
    if ((!mayStart && this.#agents.size === 0) || call.isError) return;
    if (LAUNCHING_TOOLS.has(call.name)) this.#launched(call);
    else if (call.name === "SendMessage") this.#resumed(call);
    else if (call.name === "Read") this.#outputRead(stringField(call.input, "file_path"));
    else if (STOPPING_TOOLS.has(call.name)) this.#agents.delete(taskIdIn(call.input) ?? "");
    else if (COLLECTING_TOOLS.has(call.name) && !isStillRunning(call))
      this.#agents.delete(taskIdIn(call.input) ?? "");
  }

  /** A notice that an agent has ended. It holds the result as a rule; without it the result is still to be had. */
  told(textOfIt: () => string): void {
    if (this.#agents.size === 0) return;
    const text = textOfIt();
    if (!text.trimStart().startsWith("<task-notification>")) return;
    const id = tagged(text, "task-id");
    const known = id === undefined ? undefined : this.#agents.get(id);
    const status = STATUSES.get(tagged(text, "status") ?? "completed") ?? "completed";
    if (known === undefined || status === "running") return;
    if (status !== "completed" || tagged(text, "result") !== undefined) this.#agents.delete(known.id);
    else {
      const outputPath = tagged(text, "output-file") ?? known.outputPath;
      this.#agents.set(known.id, { ...known, status, ...(outputPath === undefined ? {} : { outputPath }) });
    }
  }

  /** What an earlier restoration said. */
  status(attachment: unknown): void {
    if (stringField(attachment, "taskType") === "local_bash") return;
    const outputPath = firstString(attachment, "outputFilePath");
    const agent = readAgent({
      id: stringField(attachment, "taskId"),
      status: stringField(attachment, "status"),
      description: stringField(attachment, "description"),
      outputPath,
    });
    if (agent) this.#agents.set(agent.id, agent);
  }

  #launched({ input, outcome, result }: AnsweredCall): void {
    const text = contentText(result.content);
    const isLaunch = field(outcome, "isAsync") === true || text.startsWith("Async agent launched");
    const id = firstString(outcome, "agentId") ?? /\bagentId: (\w+)/.exec(text)?.[1];
    if (!isLaunch || id === undefined) return;
    const description = firstString(input, "description", "subagent_type") ?? "";
    const outputPath = firstString(outcome, "outputFile") ?? /^output_file: (.+)$/m.exec(text)?.[1];
    const path = outputPath === undefined ? {} : { outputPath };
    this.#agents.set(id, { id, description, status: "running", ...path });
  }

  /** A message wakes an agent that had ended. */
  #resumed({ input, outcome }: AnsweredCall): void {
    const id = firstString(outcome, "resumedAgentId");
    if (id === undefined) return;
    const known = this.#agents.get(id);
    const description = known?.description ?? firstString(input, "summary") ?? "";
    this.#agents.set(id, { ...known, id, description, status: "running" });
  }

  #outputRead(path: string | undefined): void {
    for (const agent of this.#agents.values()) {
      if (agent.outputPath === path && path !== undefined && agent.status !== "running")
        this.#agents.delete(agent.id);
    }
  }
}

const LAUNCHING_TOOLS: ReadonlySet<string> = new Set(["Task", "Agent"]);
const COLLECTING_TOOLS: ReadonlySet<string> = new Set(["TaskOutput", "AgentOutputTool", "AgentOutput"]);
const STOPPING_TOOLS: ReadonlySet<string> = new Set(["TaskStop", "KillShell", "KillBash"]);

const taskIdIn = (input: unknown): string | undefined =>
  firstString(input, "task_id", "taskId", "agentId", "agent_id", "shell_id", "id");

function isStillRunning({ outcome, result }: AnsweredCall): boolean {
  const status =
    stringField(field(outcome, "task"), "status") ?? tagged(contentText(result.content), "status");
  return status !== undefined && STATUSES.get(status) === "running";
}

/** The first only: what follows may be an agent's own words, tags and all. */
function tagged(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>`);
  if (start < 0) return undefined;
  const end = text.indexOf(`</${tag}>`, start);
  return text.slice(start + tag.length + 2, end < 0 ? undefined : end).trim();
}
