import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openScreen } from "../../packages/longhaul/src/chat/screen/open-screen.ts";
import type { Screen, ScreenHandlers } from "../../packages/longhaul/src/chat/screen/screen.ts";
import { openScreenBuffer, type ScreenBuffer } from "./screen-buffer.case.ts";

/** Names the terminal of VS Code, because terminals wrap rows differently. */
const ENVIRONMENT = { TERM: "xterm-256color", TERM_PROGRAM: "vscode" };

/** A screen of this process, drawn on a terminal without a window. */
export interface ScreenInBuffer {
  readonly screen: Screen;
  readonly buffer: ScreenBuffer;
  /** Calls of the handlers, such as `submitted hello`. */
  readonly told: readonly string[];
  /** Returns all output, with control sequences. */
  bytes(): string;
  isRaw(): boolean;
  /** Sends keys or text like a terminal. */
  send(keys: string): Promise<void>;
  resize(cols: number, rows: number): Promise<void>;
  /** Moves the clock of the screen. */
  wait(ms: number): void;
  /** Resolves when everything is drawn. */
  drawn(): Promise<void>;
}

export interface ScreenInBufferOptions {
  readonly cols?: number;
  readonly rows?: number;
  readonly environment?: NodeJS.ProcessEnv;
  readonly complete?: ScreenHandlers["complete"];
}

export function openScreenInBuffer(options: ScreenInBufferOptions = {}): ScreenInBuffer {
  const { cols = 40, rows = 12, environment = ENVIRONMENT } = options;
  const buffer = openScreenBuffer(cols, rows);
  let bytes = "";
  let isRaw = false;
  let clock = 0;
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (on: boolean) => {
      isRaw = on;
    },
  });
  const output = Object.assign(new EventEmitter(), {
    isTTY: true,
    columns: cols,
    rows,
    write: (text: string) => {
      bytes += text;
      void buffer.write(text);
    },
  });
  const told: string[] = [];
  const handlers: ScreenHandlers = {
    submitted: (text) => told.push(`submitted ${text}`),
    interrupted: () => told.push("interrupted"),
    escaped: () => told.push("escaped"),
    ended: () => told.push("ended"),
    unfold: () => told.push("unfold"),
    complete: options.complete ?? (() => []),
  };
  const screen = openScreen({ input, output, environment, handlers, now: () => clock });
  const drawn = async (): Promise<void> => {
    // The first turn of the event loop reads the input, the second draws.
    await nextTurn();
    await nextTurn();
    await buffer.write("");
  };
  return {
    screen,
    buffer,
    told,
    bytes: () => bytes,
    isRaw: () => isRaw,
    send: async (keys) => {
      input.write(keys);
      await drawn();
    },
    resize: async (newCols, newRows) => {
      await buffer.write("");
      buffer.terminal.resize(newCols, newRows);
      Object.assign(output, { columns: newCols, rows: newRows });
      output.emit("resize");
      await drawn();
    },
    wait: (ms) => {
      clock += ms;
    },
    drawn,
  };
}
