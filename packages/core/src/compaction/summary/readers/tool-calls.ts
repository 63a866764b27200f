import type { ToolPair } from "../../../messages/pairs.ts";
import { headOf } from "../../../messages/text.ts";
import { TodoLedger, type TrackedTodo } from "../../../messages/todo-ledger.ts";
import { filePathIn, isShellTool } from "../../../messages/tool-kinds.ts";
import { contentText, field, firstString, stringField } from "../../../messages/untrusted.ts";
import { clip, oneLine } from "../clip.ts";
import { programOf, readCommand } from "./command-runs.ts";
import { ErrorLedger, type ErrorRecord } from "./error-ledger.ts";
import { isRefusal, type OpenExchange, refusalReason } from "./exchanges.ts";
import { FileLedger } from "./file-ledger.ts";
import { saysStillRunning } from "./passing-state.ts";
import { reasonBefore } from "./purposes.ts";
import {
  type Answer,
  type BackgroundTask,
  type Finding,
  isAgentTool,
  isQuestionTool,
  type Notification,
  openQuestions,
  type Plan,
  readAgentResult,
  readAnswers,
  readPlan,
} from "./replies.ts";
import {
  definedNames,
  editsIn,
  type FileRecord,
  fileName,
  fileUseIn,
  importedPackages,
  languageOf,
  type NameTally,
} from "./touched-code.ts";

/** Facts from the tool calls of a session. */
export interface ToolDigest {
  readonly files: readonly FileRecord[];
  readonly errors: readonly ErrorRecord[];
  readonly todos: readonly TrackedTodo[];
  /** Pending items of a to-do list that a newer list replaced without them. */
  readonly droppedTodos: readonly TrackedTodo[];
  readonly answers: readonly Answer[];
  readonly plans: readonly Plan[];
  readonly findings: readonly Finding[];
  readonly runningTasks: readonly BackgroundTask[];
  /** Ids of the background tasks that reported back. */
  readonly endedTasks: readonly string[];
  readonly unansweredCalls: readonly string[];
  readonly openQuestions: readonly string[];
}

/** Tasks that were open before the first entry. Only some callers know these tasks. */
export type OpenBefore = Pick<ToolDigest, "todos" | "runningTasks">;

type Tallies = Readonly<Record<"names" | "packages" | "programs", NameTally>>;

interface CallSetting {
  readonly aside: boolean;
  /** The agent's last text before the call. */
  readonly said: string | undefined;
  readonly round: number;
  /** Folder of the shell, if the entry has it. */
  readonly cwd: string | undefined;
  /** True if an earlier summary already counts the call. */
  readonly isCovered: boolean;
}

/** Reads tool calls with their results into ledgers of files, errors, to-dos, answers and findings. */
export class ToolReader {
  readonly todos: TodoLedger = new TodoLedger();
  /** Branch that the last output of git names. */
  branch: string | undefined;
  readonly #files = new FileLedger();
  readonly #errors = new ErrorLedger();
  readonly #answers: Answer[] = [];
  readonly #plans: Plan[] = [];
  readonly #findings: Finding[] = [];
  readonly #running = new Map<string, BackgroundTask>();
  readonly #ended = new Set<string>();
  readonly #unanswered: string[] = [];
  readonly #openQuestions: string[] = [];
  readonly #tallies: Tallies;
  /** Folder of the shell after the last command, as far as the commands show it. */
  #shellFolder: string | undefined;

  constructor(tallies: Tallies, before: OpenBefore | undefined) {
    this.#tallies = tallies;
    if (before === undefined) return;
    this.todos.resume(before.todos);
    for (const task of before.runningTasks) this.#running.set(task.id, task);
  }

  /** Reads a call. Returns what the user said when refusing it. */
  call(at: number, pair: ToolPair, exchange: OpenExchange, setting: CallSetting): string | undefined {
    const call = callOf(at, pair, setting);
    if (call.isError && isRefusal(call.output)) {
      if (setting.aside) return undefined;
      const label = `${labelOf(call)} → not run (refused by the user)`;
      exchange.actions.push({ kind: "tool", at, label, failed: false });
      return refusalReason(call.output);
    }
    if (this.#fileCall(call, exchange) || setting.aside) return undefined;
    if (call.answeredAt === undefined) this.#unanswered.push(labelOf(call));
    const command = stringField(call.input, "command");
    if (isShellTool(call.name) && command !== undefined) this.#shell(call, command, exchange);
    else this.#otherTool(call, exchange);
    return undefined;
  }

  /** Reads the notice of a background task. Returns the position of the agent's call that started the task. */
  notification(at: number, { taskId, status, title, result }: Notification): number | undefined {
    const task = taskId === undefined ? undefined : this.#running.get(taskId);
    const startedAt = task?.isIndependent === true ? undefined : task?.at;
    if (taskId !== undefined && status !== "running") {
      this.#running.delete(taskId);
      this.#ended.add(taskId);
    }
    const text = result === "" ? status : result;
    if (text !== "") this.#findings.push({ at, title, text });
    return startedAt;
  }

  /**
   * Returns true if a subagent that the agent started from the first position on, and before the end, still
   * runs. A task that the user started in a separate session is not part of a request.
   */
  runsFrom(start: number, end: number = Number.POSITIVE_INFINITY): boolean {
    return [...this.#running.values()].some(
      ({ at, isIndependent }) => isIndependent !== true && at >= start && at < end,
    );
  }

  started(task: BackgroundTask): void {
    this.#running.set(task.id, task);
  }

  changedOutside(path: string | undefined): void {
    if (path !== undefined) this.#files.changedOutside(path);
  }

  digest(): ToolDigest {
    return {
      files: this.#files.records(),
      errors: this.#errors.records(),
      todos: this.todos.todos(),
      droppedTodos: this.todos.dropped(),
      answers: this.#answers,
      plans: this.#plans,
      findings: this.#findings,
      runningTasks: [...this.#running.values()],
      endedTasks: [...this.#ended],
      unansweredCalls: this.#unanswered,
      openQuestions: this.#openQuestions,
    };
  }

  #fileCall(call: Call, exchange: OpenExchange): boolean {
    const use = call.isError ? undefined : fileUseIn(call.name, call.input);
    const path = use && filePathIn(call.input);
    if (use === undefined || path === undefined) return false;
    const { at, setting } = call;
    if (use === "read") {
      this.#files.read(at, path, setting.isCovered);
      if (!setting.aside) exchange.actions.push({ kind: "read", at, path });
      return true;
    }
    const edits = editsIn(call.input);
    const code =
      use === "write"
        ? (firstString(call.input, "content", "file_text") ?? "")
        : edits.map(({ now }) => now).join("\n");
    // In prose, words such as "class outright" look like definitions.
    const defines = languageOf(path) === undefined ? [] : [...definedNames(code)];
    const reason = setting.aside ? undefined : reasonFrom(setting.said, path);
    const kind = use === "write" && existedBefore(call) ? "edit" : use;
    this.#files.change(at, path, { kind, edits, defines, reason, isCovered: setting.isCovered });
    this.#errors.fileEdited(path);
    this.#tallies.packages.add(importedPackages(code), at);
    this.#tallies.names.add(defines, setting.round);
    if (!setting.aside)
      exchange.actions.push({ kind: "edit", at, path, edit: edits.at(-1), isWhole: use === "write" });
    return true;
  }

  #shell(call: Call, command: string, exchange: OpenExchange): void {
    const { at, input, isError, setting } = call;
    const output = call.answeredAt === undefined ? undefined : call.output;
    const run = readCommand(at, command, stringField(input, "description"), output, isError, setting.cwd);
    exchange.actions.push({ kind: "command", at, run });
    const program = programOf(run.command);
    if (program !== undefined && !DULL_PROGRAMS.has(program))
      this.#tallies.programs.add([program], setting.round);
    const folder = setting.cwd ?? this.#shellFolder;
    // A failed command may have changed nothing. A new folder shows in the next entry.
    if (!run.failed && run.state !== "no-result") {
      const { cwd, edited } = this.#files.shellCommand(at, command, folder, setting.isCovered);
      this.#shellFolder = cwd;
      for (const path of edited) this.#errors.fileEdited(path);
    }
    this.#errors.command(run, output ?? "");
    exchange.commits.push(...run.commits.map((commit) => ({ at, ...commit })));
    if (run.branch !== undefined) this.branch = run.branch;
  }

  #otherTool(call: Call, exchange: OpenExchange): void {
    const { at, name, input, isError, toolUseResult: outcome } = call;
    if (this.todos.call({ name, at, input, isError, outcome, resultText: () => call.output })) return;
    if (isQuestionTool(name)) this.#question(call);
    else if (name === "ExitPlanMode") {
      const plan = readPlan(at, input, call.output, isError);
      if (plan) this.#plans.push(plan);
    } else if (!SILENT_TOOLS.has(name)) {
      exchange.actions.push({ kind: "tool", at, label: labelOf(call), failed: isError });
      const isAnswered = call.answeredAt !== undefined;
      if (isAnswered)
        this.#errors.tool(at, { name, target: targetOf(input), input }, isError ? call.output : undefined);
      if (isAgentTool(name) && !isError) this.#agent(call);
    }
  }

  #question({ answeredAt, isError, toolUseResult, output, input }: Call): void {
    if (answeredAt === undefined) this.#openQuestions.push(...openQuestions(input));
    else if (!isError) this.#answers.push(...readAnswers(answeredAt, toolUseResult, output, input));
  }

  #agent(call: Call): void {
    const read = readAgentResult(call.at, call.input, call.output);
    if (read && "finding" in read) this.#findings.push(read.finding);
    else if (read) this.#running.set(read.launched.id, read.launched);
  }
}

interface Call {
  readonly at: number;
  readonly name: string;
  readonly input: unknown;
  readonly isError: boolean;
  readonly setting: CallSetting;
  /** Index of the answer, or undefined if there is none. */
  readonly answeredAt: number | undefined;
  readonly toolUseResult: unknown;
  readonly output: string;
}

function callOf(at: number, { name, use, results: [result] }: ToolPair, setting: CallSetting): Call {
  let output: string | undefined;
  return {
    at,
    name,
    input: use.block.input,
    isError: result?.block.is_error === true,
    setting,
    answeredAt: result?.entryIndex,
    toolUseResult: field(result?.entry, "toolUseResult"),
    /** Output text. It is joined only on use, because most results are files that nobody reads here. */
    get output() {
      output ??= contentText(result?.block.content);
      return output;
    },
  };
}

/** Characters of the result of a write that say whether the file existed. */
const WRITE_RESULT_CHARS = 300;

/** Returns true if the result of a write says that it replaced a file. */
const existedBefore = ({ toolUseResult, output }: Call): boolean =>
  stringField(toolUseResult, "type") === "update" ||
  /\b(?:has been updated|overw(?:rote|ritten)|updated successfully)\b/i.test(
    headOf(output, WRITE_RESULT_CHARS),
  );

const MAX_REASON_CHARS = 160;
const MAX_LABEL_CHARS = 110;
/** Programs such as `ls` and `grep`, which say nothing about the technology of the project. */
const DULL_PROGRAMS: ReadonlySet<string> = new Set(
  "awk cat cd cp cut echo find for grep head if ls mkdir mv pwd rg rm sed sleep sort tail test touch tr wc which while xargs".split(
    " ",
  ),
);
const SILENT_TOOLS: ReadonlySet<string> = new Set(
  "ToolSearch TaskList TaskGet BashOutput TodoRead Skill".split(" "),
);
/** Fields that show the subject of a call, the most specific first. */
const TARGET_FIELDS = "description url query pattern file_path path command summary action".split(" ");

function reasonFrom(said: string | undefined, path: string): string | undefined {
  const sentence = said === undefined ? undefined : reasonBefore(said);
  if (sentence === undefined || saysStillRunning(sentence) || namesOtherFile(sentence, path))
    return undefined;
  return sentence && clip(sentence.replace(/[:：]$/, ""), MAX_REASON_CHARS);
}

/** Returns true if a sentence names files, but not this one. It announces the change of another file. */
function namesOtherFile(sentence: string, path: string): boolean {
  const names = [...sentence.matchAll(/`([\w@./\\-]+\.\w{1,5})`/g)].map(([, name = ""]) => name);
  const files = names.filter((name) => languageOf(name) !== undefined).map(fileName);
  return files.length > 0 && !files.includes(fileName(path));
}

const targetOf = (input: unknown): string => oneLine(headOf(firstString(input, ...TARGET_FIELDS) ?? "", 300));

function labelOf({ name, input }: Call): string {
  const target = targetOf(input);
  return clip(target === "" ? name : `${name}: ${target}`, MAX_LABEL_CHARS);
}
