import type { ToolPair, ToolResultAt } from "../../conversation/pairs.ts";
import { headOf } from "../../conversation/text.ts";
import { TodoLedger } from "../../conversation/todo-ledger.ts";
import { filePathIn, isShellTool } from "../../conversation/tool-kinds.ts";
import { contentText, field, firstString, stringField } from "../../conversation/untrusted.ts";
import { clip, oneLine } from "./clip.ts";
import type { OpenBefore, SessionDigest } from "./digest.ts";
import type { ExchangeBuilder } from "./exchange.ts";
import {
  type Answer,
  isQuestionTool,
  openQuestions,
  type Plan,
  readAnswers,
  readPlan,
} from "./read/answers.ts";
import { parseCommit, programOf, readCommand, scannedOutput } from "./read/commands.ts";
import type { ConceptCounter } from "./read/concepts.ts";
import { ErrorLedger } from "./read/errors.ts";
import { editsIn, FileLedger, fileUseIn } from "./read/files.ts";
import {
  type BackgroundTask,
  type Finding,
  isAgentTool,
  type Notification,
  readAgentResult,
} from "./read/findings.ts";
import { isRefusal, wordsOfRefusal } from "./read/human.ts";
import { definedNames } from "./read/identifiers.ts";
import { lastSentence } from "./sentences.ts";

const MAX_REASON_CHARS = 160;
const MAX_LABEL_CHARS = 110;

interface CallSetting {
  readonly aside: boolean;
  /** What the agent said last before the call. */
  readonly said: string | undefined;
  readonly round: number;
}

class Call {
  readonly at: number;
  readonly name: string;
  readonly input: unknown;
  readonly isError: boolean;
  readonly setting: CallSetting;
  readonly #result: ToolResultAt | undefined;
  #output: string | undefined;

  constructor(at: number, pair: ToolPair, setting: CallSetting) {
    this.#result = pair.results[0];
    this.at = at;
    this.name = pair.name;
    this.input = pair.use.block.input;
    this.isError = this.#result?.block.is_error === true;
    this.setting = setting;
  }

  get answered(): boolean {
    return this.#result !== undefined;
  }

  /** Where it was answered. */
  get answeredAt(): number {
    return this.#result?.entryIndex ?? this.at;
  }

  get toolUseResult(): unknown {
    return field(this.#result?.entry, "toolUseResult");
  }

  /** Put together only where it is asked for: most results are files, which nobody here looks into. */
  get output(): string {
    this.#output ??= contentText(this.#result?.block.content);
    return this.#output;
  }
}

/** Reads tool calls with their results into ledgers of files, errors, to-dos, answers and findings. */
export class ToolReader {
  readonly todos: TodoLedger = new TodoLedger();
  readonly #files = new FileLedger();
  readonly #errors = new ErrorLedger();
  readonly #answers: Answer[] = [];
  readonly #plans: Plan[] = [];
  readonly #findings: Finding[] = [];
  readonly #running = new Map<string, BackgroundTask>();
  readonly #unanswered: string[] = [];
  readonly #openQuestions: string[] = [];
  readonly #concepts: ConceptCounter;

  constructor(concepts: ConceptCounter) {
    this.#concepts = concepts;
  }

  goOnFrom({ todos, runningTasks }: OpenBefore): void {
    this.todos.attachment({ type: "todo_reminder", content: todos });
    for (const task of runningTasks) this.#running.set(task.id, task);
  }

  /** Returns what a person said on refusing the call. */
  call(at: number, pair: ToolPair, exchange: ExchangeBuilder, setting: CallSetting): string | undefined {
    const call = new Call(at, pair, setting);
    if (call.isError && isRefusal(call.output)) {
      if (setting.aside) return undefined;
      exchange.actions.push({
        kind: "tool",
        at,
        label: `${labelOf(call)} (refused by the user)`,
        failed: true,
      });
      return wordsOfRefusal(call.output);
    }
    if (this.#fileCall(call, exchange) || setting.aside) return undefined;
    if (!call.answered) this.#unanswered.push(labelOf(call));
    const command = stringField(call.input, "command");
    if (isShellTool(call.name) && command !== undefined) this.#shell(call, command, exchange);
    else this.#otherTool(call, exchange);
    return undefined;
  }

  notification(at: number, notification: Notification): void {
    if (notification.taskId !== undefined && notification.status !== "running") {
      this.#running.delete(notification.taskId);
    }
    const text = notification.result === "" ? notification.status : notification.result;
    if (text !== "") this.#findings.push({ at, title: notification.title, text });
  }

  changedOutside(path: string | undefined): void {
    if (path !== undefined) this.#files.changedOutside(path);
  }

  findings(): Pick<
    SessionDigest,
    | "files"
    | "errors"
    | "todos"
    | "answers"
    | "plans"
    | "findings"
    | "runningTasks"
    | "unansweredCalls"
    | "openQuestions"
  > {
    return {
      files: this.#files.records(),
      errors: this.#errors.records(),
      todos: this.todos.todos(),
      answers: this.#answers,
      plans: this.#plans,
      findings: this.#findings,
      runningTasks: [...this.#running.values()],
      unansweredCalls: this.#unanswered,
      openQuestions: this.#openQuestions,
    };
  }

  #fileCall(call: Call, exchange: ExchangeBuilder): boolean {
    const use = call.isError ? undefined : fileUseIn(call.name, call.input);
    const path = use && filePathIn(call.input);
    if (use === undefined || path === undefined) return false;
    const { at, setting } = call;
    if (use === "read") {
      this.#files.read(at, path);
      if (!setting.aside) exchange.actions.push({ kind: "read", at, path });
      return true;
    }
    const edits = editsIn(call.input);
    const code =
      use === "write"
        ? (firstString(call.input, "content", "file_text") ?? "")
        : edits.map(({ now }) => now).join("\n");
    const defines = [...definedNames(code)];
    this.#files.change(at, path, {
      kind: use,
      edits,
      defines,
      reason: setting.aside ? undefined : reasonFrom(setting.said),
    });
    this.#errors.fileEdited(path);
    this.#concepts.code(at, code);
    this.#concepts.defined(setting.round, defines);
    if (!setting.aside) exchange.actions.push({ kind: "edit", at, path, edit: edits.at(-1) });
    return true;
  }

  #shell(call: Call, command: string, exchange: ExchangeBuilder): void {
    const run = readCommand(
      call.at,
      command,
      stringField(call.input, "description"),
      call.output,
      call.isError,
    );
    exchange.actions.push({ kind: "command", at: call.at, run });
    const program = programOf(run.command);
    if (program !== undefined && !DULL_PROGRAMS.has(program))
      this.#concepts.program(call.setting.round, program);
    this.#errors.command(run, call.output);
    if (!run.failed) this.#files.shellCommand(call.at, command);
    const commit = run.kind === "commit" && !run.failed ? parseCommit(scannedOutput(call.output)) : undefined;
    if (commit) exchange.commits.push({ at: call.at, ...commit });
  }

  #otherTool(call: Call, exchange: ExchangeBuilder): void {
    const { at, name, input } = call;
    const { isError, toolUseResult: outcome } = call;
    if (this.todos.call({ name, input, isError, outcome, resultText: () => call.output })) return;
    if (isQuestionTool(name)) this.#question(call);
    else if (name === "ExitPlanMode") {
      const plan = readPlan(at, input, call.output, call.isError);
      if (plan) this.#plans.push(plan);
    } else if (!SILENT_TOOLS.has(name)) {
      exchange.actions.push({ kind: "tool", at, label: labelOf(call), failed: call.isError });
      this.#errors.tool(at, name, targetOf(input), call.isError ? call.output : "", call.isError);
      if (isAgentTool(name) && !call.isError) this.#agent(call);
    }
  }

  #question(call: Call): void {
    const answers = call.isError ? [] : readAnswers(call.answeredAt, call.toolUseResult, call.output);
    this.#answers.push(...answers);
    if (answers.length === 0 && !call.answered) this.#openQuestions.push(...openQuestions(call.input));
  }

  #agent(call: Call): void {
    const read = readAgentResult(call.at, call.input, call.output);
    if (read && "finding" in read) this.#findings.push(read.finding);
    else if (read) this.#running.set(read.launched.id, read.launched);
  }
}

/** Looking around says nothing about the technology. */
const DULL_PROGRAMS: ReadonlySet<string> = new Set(
  "awk cat cd cp cut echo find for grep head if ls mkdir mv pwd rg rm sed sleep sort tail test touch tr wc which while xargs".split(
    " ",
  ),
);
const SILENT_TOOLS: ReadonlySet<string> = new Set([
  "ToolSearch",
  "TaskList",
  "TaskGet",
  "BashOutput",
  "TodoRead",
  "Skill",
]);

function reasonFrom(said: string | undefined): string | undefined {
  const sentence = said === undefined ? undefined : lastSentence(said);
  return sentence && clip(sentence.replace(/[:：]$/, ""), MAX_REASON_CHARS);
}

function targetOf(input: unknown): string {
  return oneLine(
    headOf(
      firstString(
        input,
        "description",
        "url",
        "query",
        "pattern",
        "file_path",
        "path",
        "command",
        "summary",
        "action",
      ) ?? "",
      300,
    ),
  );
}

function labelOf(call: Call): string {
  const target = targetOf(call.input);
  return clip(target === "" ? call.name : `${call.name}: ${target}`, MAX_LABEL_CHARS);
}
