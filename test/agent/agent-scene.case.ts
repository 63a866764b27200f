import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent, AgentEvent, AgentOptions, RunResult } from "@longhaul/agent";
import { defineTool, openAgent, type Tool } from "@longhaul/agent";
import { anthropicModel } from "@longhaul/anthropic";
import { type Simulator, type SimulatorOptions, startSimulator } from "@longhaul/simulator";
import { z } from "zod";

export interface AgentScene extends AsyncDisposable {
  readonly simulator: Simulator;
  readonly cwd: string;
  /**
   * The home folder. It is next to the working directory, because agents ask before each action in the home
   * folder.
   */
  readonly home: string;
  /** Events that agents report outside of runs. */
  readonly idle: AgentEvent[];
  open(options?: Partial<AgentOptions>): Promise<Agent>;
}

/** Creates a folder, a provider, and agents that use them. */
export async function agentScene(options: SimulatorOptions = {}): Promise<AgentScene> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "longhaul-agent-")));
  const [cwd, home] = [join(base, "project"), join(base, "home")];
  await mkdir(cwd);
  await mkdir(home);
  const simulator = await startSimulator(options);
  const idle: AgentEvent[] = [];
  const opened: Agent[] = [];
  return {
    simulator,
    cwd,
    home,
    idle,
    open: async (more = {}) => {
      const agent = await openAgent({
        model: anthropicModel({ model: "claude-haiku-4-5", baseURL: simulator.url, apiKey: "any" }),
        cwd,
        places: { home, env: {} },
        retries: { wait: async () => undefined },
        onEvent: (event) => idle.push(event),
        ...more,
        compactor: {
          ...more.compactor,
          settings: { environment: {}, ...more.compactor?.settings },
          window: { tokens: options.windowTokens, ...more.compactor?.window },
        },
      });
      opened.push(agent);
      return agent;
    },
    [Symbol.asyncDispose]: async () => {
      // An agent that cannot write its session reports that on close. The test has already checked this
      // report.
      for (const agent of opened) await agent.close().catch(() => undefined);
      await simulator.close();
      await rm(base, { recursive: true, force: true });
    },
  };
}

export interface Ran {
  readonly events: readonly AgentEvent[];
  readonly result: RunResult;
}

export async function ran(
  agent: Agent,
  prompt: string,
  options: { readonly signal?: AbortSignal; readonly onEvent?: (event: AgentEvent) => void } = {},
): Promise<Ran> {
  const events: AgentEvent[] = [];
  const run = agent.run(prompt, options.signal === undefined ? {} : { signal: options.signal });
  for (;;) {
    const step = await run.next();
    if (step.done) return { events, result: step.value };
    events.push(step.value);
    options.onEvent?.(step.value);
  }
}

export const eventsOf = <Type extends AgentEvent["type"]>(
  events: readonly AgentEvent[],
  type: Type,
): readonly Extract<AgentEvent, { readonly type: Type }>[] =>
  events.filter((event): event is Extract<AgentEvent, { readonly type: Type }> => event.type === type);

/** Creates a tool that runs this function. */
export const toolOf = (
  name: string,
  call: (input: { readonly of?: string | undefined }, signal: AbortSignal) => Promise<string> | string,
  isReadOnly = true,
): Tool =>
  defineTool({
    name,
    description: `For tests: ${name}`,
    input: z.object({ of: z.string().optional() }),
    isReadOnly,
    title: ({ of = "" }) => of,
    needs: () => [],
    call: async (input, { signal }) => ({ content: await call(input, signal) }),
  });
