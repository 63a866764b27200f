/** A terminal's keyboard, or another input stream. */
export interface ScreenInput extends NodeJS.ReadableStream {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
}

export interface ScreenOutput extends NodeJS.EventEmitter {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** A terminal mode that reports each key and marks pastes. */
export interface TerminalMode {
  enter(): void;
  /** Restores the previous mode. Safe to call at any moment, and twice. */
  leave(): void;
}

const MARK_PASTES = "\u001b[?2004h";
/**
 * Ends the marking of pastes. Also resets the settings that an interrupted drawing leaves changed: wrapping,
 * the hidden cursor, and synchronized output.
 */
const AS_BEFORE = "\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?2026l";

export function createTerminalMode(input: ScreenInput, output: ScreenOutput): TerminalMode {
  let isEntered = false;
  // Ignores errors, because the terminal may be closed.
  const setRaw = (isRaw: boolean): void => {
    try {
      input.setRawMode?.(isRaw);
    } catch {}
  };
  return {
    enter: () => {
      // Switches raw mode off and on again, because another program may have changed the mode while this
      // process was stopped.
      setRaw(false);
      setRaw(true);
      output.write(MARK_PASTES);
      isEntered = true;
    },
    leave: () => {
      if (!isEntered) return;
      isEntered = false;
      output.write(AS_BEFORE);
      setRaw(false);
    },
  };
}

export interface ProcessEvents {
  /** The process continues after a stop. */
  continued(): void;
  /** A signal asks the process to end, or its terminal is closed. */
  ended(): void;
  interrupted(): void;
  /** The process ends now, for any reason. */
  exiting(): void;
}

/** Reports process events until the returned function is called. */
export function watchProcess(events: ProcessEvents): () => void {
  let hasEnded = false;
  const end = (name: NodeJS.Signals): void => {
    if (!hasEnded) events.ended();
    else {
      // A second signal ends the process immediately.
      events.exiting();
      release();
      process.kill(process.pid, name);
    }
    hasEnded = true;
  };
  const listeners: readonly (readonly [string, (name: NodeJS.Signals) => void])[] = [
    ["SIGCONT", () => events.continued()],
    ["SIGINT", () => events.interrupted()],
    ["SIGTERM", end],
    ["SIGHUP", end],
    ["exit", () => events.exiting()],
    // Runs before Node prints the error, so that the error appears below the output in a restored terminal.
    ["uncaughtExceptionMonitor", () => events.exiting()],
  ];
  const release = (): void => {
    for (const [name, listener] of listeners) process.removeListener(name, listener);
  };
  for (const [name, listener] of listeners) process.on(name, listener);
  return release;
}

/**
 * Stops the whole process group, as Ctrl-Z does. If only this process stopped, the shell would wait for the
 * other processes of the group. The system does not stop a group if no parent process can continue it.
 */
export function stopProcess(): void {
  if (process.platform !== "win32") process.kill(0, "SIGTSTP");
}
