/** A terminal's keyboard, or what is read instead of one. */
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

/** A terminal that is told each key, and that marks what is pasted. */
export interface TerminalMode {
  enter(): void;
  /** As it was. May be called at any moment, and twice. */
  leave(): void;
}

const MARK_PASTES = "\u001b[?2004h";
/** Also what a drawing that was cut short would have ended with: folding, the cursor, plain text. */
const AS_BEFORE = "\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?2026l";

export function createTerminalMode(input: ScreenInput, output: ScreenOutput): TerminalMode {
  let isEntered = false;
  // The terminal may be gone, and then there is nothing to set.
  const setRaw = (isRaw: boolean): void => {
    try {
      input.setRawMode?.(isRaw);
    } catch {}
  };
  return {
    enter: () => {
      // From the start: while we were stopped, somebody else may have set it.
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
  /** The process goes on after it was stopped. */
  continued(): void;
  /** Somebody asks it to end, or its terminal is gone. */
  ended(): void;
  interrupted(): void;
  /** It ends now, whatever the reason. */
  exiting(): void;
}

/** Tells of what happens to the process until it is called again. */
export function watchProcess(events: ProcessEvents): () => void {
  let hasEnded = false;
  const end = (name: NodeJS.Signals): void => {
    if (!hasEnded) events.ended();
    else {
      // Twice means at once.
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
    // Before Node prints the error: below what was shown, in a terminal that is as it was.
    ["uncaughtExceptionMonitor", () => events.exiting()],
  ];
  const release = (): void => {
    for (const [name, listener] of listeners) process.removeListener(name, listener);
  };
  for (const [name, listener] of listeners) process.on(name, listener);
  return release;
}

/**
 * Stops the process as Ctrl-Z does, with all that were started with it, or the shell would wait for them. Where nobody is
 * there to continue it, the system does not stop it.
 */
export function stopProcess(): void {
  if (process.platform !== "win32") process.kill(0, "SIGTSTP");
}
