import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { IPty } from "@lydell/node-pty";
import { EARLY_MS, QUIET_MS } from "../../packages/longhaul/src/chat/screen/choice.ts";
import { CLI_MAIN } from "../support/cli.ts";
import { FROM_SOURCE } from "../support/from-source.ts";
import { openScreenBuffer } from "./screen-buffer.case.ts";

export interface PtyOptions {
  readonly args?: readonly string[];
  /** Beside PATH, HOME and TERM: nothing of the machine's own environment comes along. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cols?: number;
  readonly rows?: number;
  readonly cwd: string;
}

export interface PtyExit {
  readonly code: number;
  readonly signal: number | undefined;
}

/** A program in a pseudo-terminal, and the screen that a person in front of it would look at. */
export interface Pty {
  readonly pid: number;
  type(text: string): void;
  press(...keys: readonly Key[]): void;
  /** As a terminal does it for programs that have asked for bracketed paste. */
  paste(text: string): void;
  resize(cols: number, rows: number): void;
  /** The visible rows. */
  screenText(): string;
  /** All lines since the beginning; what the terminal folded is one line. */
  scrollback(): readonly string[];
  /** Everything that the program has written, with its control sequences. */
  bytes(): string;
  /** Resolves with the screen at the moment that makes it true; rejects with the screen where it does not come. */
  waitFor(wanted: string | RegExp | ((screen: string) => boolean)): Promise<string>;
  /** Answers an open question that grants something: selects the first option, and presses Enter. */
  allow(): Promise<void>;
  rowColours(text: string): readonly string[];
  colourAt(row: number, column: number): string;
  cursor(): { readonly row: number; readonly column: number };
  kill(signal?: NodeJS.Signals): void;
  readonly exit: Promise<PtyExit>;
  /** Ends it, where it still runs. */
  close(): Promise<void>;
}

/** A timer may fire a little early, and clocks of two processes differ: a key just before the limit is dropped. */
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

/** For `describe.skipIf`: the package has binaries for some platforms only. */
export const hasNoPty: boolean = loaded.spawn === undefined;

/** The program as users get it: `longhaul` with these arguments. */
export const openPty = (options: PtyOptions): Pty =>
  startPty(process.execPath, [CLI_MAIN, ...(options.args ?? [])], options);

/** A script of this folder, as it stands. */
export const openScriptPty = (script: string, options: PtyOptions): Pty =>
  startPty(process.execPath, [...scriptArguments(script), ...(options.args ?? [])], options);

/** For Node: runs a script of this folder. */
export const scriptArguments = (script: string): readonly string[] => [
  ...FROM_SOURCE,
  join(import.meta.dirname, script),
];

/** Generous, for a machine that does much else: only a test that fails waits so long. */
const LIMIT_MS = 30_000;

/** Any program. */
export function startPty(file: string, args: readonly string[], options: PtyOptions): Pty {
  if (loaded.spawn === undefined) throw new Error(loaded.problem);
  const { cols = 80, rows = 24, cwd } = options;
  const env = {
    PATH: process.env.PATH ?? "",
    // Elsewhere: at home everything asks.
    HOME: `${cwd}-home`,
    TERM: "xterm-256color",
    // Whose terminal the screen is: it folds rows in its own way.
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
      // A busy machine may take a key for one that came too early: then nothing is selected, and it is pressed again.
      for (let tries = 0; tries < 10 && !/^> Yes$/m.test(screen.text()); tries++) {
        await sleep(EARLY_MS + TIMER_SLACK_MS);
        if (!/^> (?:Yes|No)/m.test(screen.text())) child.write(KEYS.down);
        await sleep(TIMER_SLACK_MS);
      }
      await screen.waitFor(/^> Yes$/m);
      await sleep(QUIET_MS + TIMER_SLACK_MS);
      child.write(KEYS.enter);
    },
    rowColours: (text) => screen.buffer.rowColours(text),
    colourAt: (row, column) => screen.buffer.colourAt(row, column),
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
  // Programs ask terminals what they are; the screen answers.
  buffer.terminal.onData((answer) => child.write(answer));
  child.onData((data) => {
    bytes += data;
    void buffer.write(data).then(look);
  });
  const exit = new Promise<PtyExit>((resolve) =>
    child.onExit(({ exitCode, signal }) => {
      // An empty write: after everything that came before.
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

/** In the middle of what the program wants to appear at once: nobody is to see that. */
const isDrawing = (bytes: string): boolean =>
  bytes.lastIndexOf("\u001b[?2026h") > bytes.lastIndexOf("\u001b[?2026l");

function isThere(wanted: Parameters<Pty["waitFor"]>[0], screen: string): boolean {
  if (typeof wanted === "string") return screen.includes(wanted);
  return typeof wanted === "function" ? wanted(screen) : wanted.test(screen);
}
