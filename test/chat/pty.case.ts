import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { IPty } from "@lydell/node-pty";
import { EARLY_MS, QUIET_MS } from "../../packages/longhaul/src/chat/screen/choice.ts";
import { CLI_MAIN } from "../support/cli.ts";
import { FROM_SOURCE } from "../support/from-source.ts";
import { openScreenBuffer } from "./screen-buffer.case.ts";

export interface PtyOptions {
  readonly args?: readonly string[];
  /** Variables besides PATH, HOME and TERM. The machine's own environment is not passed on. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cols?: number;
  readonly rows?: number;
  readonly cwd: string;
}

export interface PtyExit {
  readonly code: number;
  readonly signal: number | undefined;
}

/** A program in a pseudo-terminal, with the screen that a person would see. */
export interface Pty {
  readonly pid: number;
  type(text: string): void;
  press(...keys: readonly Key[]): void;
  /** Pastes like a terminal in bracketed paste mode. */
  paste(text: string): void;
  resize(cols: number, rows: number): void;
  /** Returns the visible rows. */
  screenText(): string;
  /** Returns all lines since the start. A wrapped line counts as one. */
  scrollback(): readonly string[];
  /** Returns all output of the program, with control sequences. */
  bytes(): string;
  /** Resolves with the screen when the condition becomes true. Rejects with the screen on a timeout. */
  waitFor(wanted: string | RegExp | ((screen: string) => boolean)): Promise<string>;
  /** Answers an open permission question: selects the first option and presses Enter. */
  allow(): Promise<void>;
  rowColors(text: string): readonly string[];
  colorAt(row: number, column: number): string;
  cursor(): { readonly row: number; readonly column: number };
  kill(signal?: NodeJS.Signals): void;
  readonly exit: Promise<PtyExit>;
  /** Ends the program if it still runs. */
  close(): Promise<void>;
}

/**
 * Additional waiting time. Without it, a key just before the limit would be dropped, because a timer may fire
 * slightly early and the clocks of two processes differ.
 */
export const TIMER_SLACK_MS = 200;

const KEYS = {
  enter: "\r",
  "alt-enter": "\u001b\r",
  esc: "\u001b",
  tab: "\t",
  space: " ",
  backspace: "\u007f",
  delete: "\u001b[3~",
  up: "\u001b[A",
  down: "\u001b[B",
  right: "\u001b[C",
  left: "\u001b[D",
  home: "\u001b[H",
  end: "\u001b[F",
  "ctrl-a": "\u0001",
  "ctrl-c": "\u0003",
  "ctrl-d": "\u0004",
  "ctrl-e": "\u0005",
  "ctrl-j": "\n",
  "ctrl-l": "\f",
  "ctrl-o": "\u000f",
  "ctrl-u": "\u0015",
  "ctrl-w": "\u0017",
  "ctrl-z": "\u001a",
} as const;
export type Key = keyof typeof KEYS;

type Spawn = typeof import("@lydell/node-pty").spawn;

const loaded: { readonly spawn?: Spawn; readonly problem?: string } = await import("@lydell/node-pty").then(
  ({ spawn }) => ({ spawn }),
  (error: unknown) => ({ problem: `no pseudo-terminal on this platform: ${String(error).split("\n")[0]}` }),
);
if (loaded.problem !== undefined) process.stderr.write(`Tests are skipped, ${loaded.problem}\n`);

/**
 * True if no pseudo-terminal is available, for `describe.skipIf`. The package node-pty has binaries only for
 * some platforms.
 */
export const hasNoPty: boolean = loaded.spawn === undefined;

/** Starts the program as users get it: `longhaul` with these arguments. */
export const openPty = (options: PtyOptions): Pty =>
  startPty(process.execPath, [CLI_MAIN, ...(options.args ?? [])], options);

/** Runs a script of this folder. */
export const openScriptPty = (script: string, options: PtyOptions): Pty =>
  startPty(process.execPath, [...scriptArguments(script), ...(options.args ?? [])], options);

/** Returns the Node arguments that run a script of this folder. */
export const scriptArguments = (script: string): readonly string[] => [
  ...FROM_SOURCE,
  join(import.meta.dirname, script),
];

/** Time limit of `waitFor`, generous for a busy machine. Only a failing test waits this long. */
const LIMIT_MS = 30_000;

/** Starts any program. */
export function startPty(file: string, args: readonly string[], options: PtyOptions): Pty {
  if (loaded.spawn === undefined) throw new Error(loaded.problem);
  const { cols = 80, rows = 24, cwd } = options;
  const env = {
    PATH: process.env.PATH ?? "",
    // The home folder is not the working folder, because in the home folder the agent asks before each
    // action.
    HOME: `${cwd}-home`,
    TERM: "xterm-256color",
    // Names the terminal program, because terminals wrap rows differently.
    TERM_PROGRAM: "vscode",
    LANG: "C.UTF-8",
    ...options.env,
  };
  const child = loaded.spawn(file, [...args], { name: env.TERM, cols, rows, cwd, env });
  const screen = watched(child, cols, rows);
  return {
    pid: child.pid,
    type: (text) => child.write(text),
    press: (...keys) => {
      for (const key of keys) child.write(KEYS[key]);
    },
    paste: (text) => child.write(`\u001b[200~${text.replaceAll("\n", "\r")}\u001b[201~`),
    resize: (newCols, newRows) => {
      screen.buffer.terminal.resize(newCols, newRows);
      child.resize(newCols, newRows);
    },
    screenText: screen.text,
    scrollback: () => screen.buffer.lines(),
    bytes: screen.bytes,
    waitFor: screen.waitFor,
    allow: async () => {
      // Repeats the key until an option is selected, because on a busy machine the question may ignore a key
      // as too early.
      for (let tries = 0; tries < 10 && !/^> Yes$/m.test(screen.text()); tries++) {
        await sleep(EARLY_MS + TIMER_SLACK_MS);
        if (!/^> (?:Yes|No)/m.test(screen.text())) child.write(KEYS.down);
        await sleep(TIMER_SLACK_MS);
      }
      await screen.waitFor(/^> Yes$/m);
      await sleep(QUIET_MS + TIMER_SLACK_MS);
      child.write(KEYS.enter);
    },
    rowColors: (text) => screen.buffer.rowColors(text),
    colorAt: (row, column) => screen.buffer.colorAt(row, column),
    cursor: () => screen.buffer.cursor(),
    kill: (signal) => child.kill(signal),
    exit: screen.exit,
    close: async () => {
      if (!screen.hasExited()) child.kill("SIGKILL");
      await screen.exit;
    },
  };
}

interface Watched {
  readonly buffer: ReturnType<typeof openScreenBuffer>;
  readonly exit: Promise<PtyExit>;
  hasExited(): boolean;
  text(): string;
  bytes(): string;
  waitFor: Pty["waitFor"];
}

function watched(child: IPty, cols: number, rows: number): Watched {
  const buffer = openScreenBuffer(cols, rows);
  const text = (): string => buffer.rows().join("\n").trimEnd();
  const looking = new Set<() => void>();
  const look = (): void => {
    for (const one of [...looking]) one();
  };
  let bytes = "";
  let exited: PtyExit | undefined;
  // Programs query the terminal, and the screen answers.
  buffer.terminal.onData((answer) => child.write(answer));
  child.onData((data) => {
    bytes += data;
    void buffer.write(data).then(look);
  });
  const exit = new Promise<PtyExit>((resolve) =>
    child.onExit(({ exitCode, signal }) => {
      // An empty write resolves after all earlier writes.
      void buffer.write("").then(() => {
        exited = { code: exitCode, signal };
        resolve(exited);
        look();
      });
    }),
  );
  const waitFor: Pty["waitFor"] = (wanted) =>
    new Promise((resolve, reject) => {
      const end = (done: () => void): void => {
        clearTimeout(timer);
        looking.delete(check);
        done();
      };
      const fail = (why: string): void =>
        end(() => reject(new Error(`${why}, waiting for ${wanted}. The screen:\n${text()}`)));
      const check = (): void => {
        if (!isDrawing(bytes) && isThere(wanted, text())) end(() => resolve(text()));
        else if (exited !== undefined) fail(`The program has ended with ${JSON.stringify(exited)}`);
      };
      const timer = setTimeout(() => fail(`Nothing for ${LIMIT_MS / 1000} s`), LIMIT_MS);
      looking.add(check);
      check();
    });
  return { buffer, exit, hasExited: () => exited !== undefined, text, bytes: () => bytes, waitFor };
}

/** Returns true in the middle of a synchronized update, which nobody should see. */
const isDrawing = (bytes: string): boolean =>
  bytes.lastIndexOf("\u001b[?2026h") > bytes.lastIndexOf("\u001b[?2026l");

function isThere(wanted: Parameters<Pty["waitFor"]>[0], screen: string): boolean {
  if (typeof wanted === "string") return screen.includes(wanted);
  return typeof wanted === "function" ? wanted(screen) : wanted.test(screen);
}
