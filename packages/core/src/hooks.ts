export type { HookAgent, HookCallback, HookCallbacks, HookFunction } from "./hooks/handlers.ts";
export type {
  CommandRequest,
  CommandResult,
  HookEvent,
  HookInput,
  HookOutcome,
  HookRun,
  HookRunner,
  HookRunOptions,
  RunCommand,
} from "./hooks/hook.ts";
export { createHooks, type Hooks, type HooksOptions } from "./hooks/runner.ts";
