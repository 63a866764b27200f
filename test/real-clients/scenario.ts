import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Call, filler, Markers, type Step, type Turn } from "./script.ts";

/**
 * Sizes of texts, counted in sentences. A sentence has about 20 tokens. The texts are large enough that a
 * compaction pays, and small enough that the test runs fast.
 */
const FILE_SENTENCES = 90;
const LARGE_FILE_SENTENCES = 160;
const TEXT_SENTENCES = 12;
/** Lines that a command prints after its marker. Unlike a file, its output is never restored. */
const LOG_LINES = 900;

/** Duration of the slow command in seconds. The command must still run when the next input arrives. */
const SLOW_SECONDS = 2;

/** Creates scripted turns for one workspace. {@link writeFiles} writes the files that the turns read. */
export class Scenario {
  readonly markers: Markers = new Markers();
  readonly #files = new Map<string, string>();
  readonly #workspace: string;
  #calls = 0;

  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  /** Writes the files for all turns that were created since the last call of this method. */
  writeFiles(): void {
    for (const [path, content] of this.#files) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
    this.#files.clear();
  }

  /** Returns a session with all features that the tests cover, in a realistic order. */
  work(): readonly Turn[] {
    return [
      this.#parallelReads("Read the three modules of the parser."),
      this.#edits(),
      this.#failure(),
      this.#subagent(),
      this.#typed(),
      this.#parallelReads("Read the three modules of the cache."),
      this.#parallelCommands("Run both checks of the cache."),
      this.chat("Remember that the release is on Friday."),
      this.#parallelReads("Read the three modules of the queue."),
      this.#parallelCommands("Run both checks of the queue."),
      this.chat("Name the next step."),
    ];
  }

  /** Returns the turns between two operations. */
  more(): readonly Turn[] {
    return [
      this.#parallelReads("Read three more modules."),
      this.#parallelReads("Read the three modules beside them."),
      this.#parallelCommands("Run both checks again."),
      this.chat("Say where we are."),
    ];
  }

  /** Returns a prompt and an answer without tools. */
  chat(request: string): Turn {
    return { prompt: this.#prompt(request), steps: [this.#answer()] };
  }

  /** Returns the last prompt of a cell. The examiner reads the request of this prompt. */
  probe(): Turn {
    return {
      prompt: `Continue. ${this.markers.next("prompt")}`,
      steps: [{ text: `Yes. ${this.markers.next("text")}` }],
    };
  }

  #parallelReads(request: string): Turn {
    const reads = [FILE_SENTENCES, FILE_SENTENCES, LARGE_FILE_SENTENCES].map((size) => this.#read(size));
    return this.#turn(request, [this.#step(reads)]);
  }

  #parallelCommands(request: string): Turn {
    return this.#turn(request, [
      this.#step([this.#command(), this.#command()]),
      this.#step([this.#command()]),
    ]);
  }

  #edits(): Turn {
    const read = this.#read(FILE_SENTENCES);
    const path = String(read.input.file_path);
    return this.#turn("Rename the first line of the module, then add a file.", [
      this.#step([read]),
      this.#step([
        this.#call("Edit", {
          file_path: path,
          old_string: "Line 1:",
          new_string: `Line one (${this.markers.next("edit")}):`,
          // The client adds this field if it is missing. The examiner compares the whole input, so the script
          // has it.
          replace_all: false,
        }),
      ]),
      this.#step([
        this.#call("Write", {
          file_path: join(this.#workspace, "notes.txt"),
          content: `${this.markers.next("edit")}\n`,
        }),
      ]),
    ]);
  }

  #failure(): Turn {
    const { command, marker } = this.markers.printed();
    const failing = this.#call("Bash", { command: `${command} && exit 3`, description: "Fails" }, marker);
    return this.#turn("Run the check that fails.", [this.#step([failing, this.#command()])]);
  }

  #subagent(): Turn {
    const task = this.markers.next("call");
    const answer = this.markers.next("result");
    const call = this.#call(
      "Agent",
      {
        description: "Look around",
        prompt: `Look around and report. ${task}`,
        subagent_type: "general-purpose",
        run_in_background: false,
      },
      answer,
    );
    const subagent = { marker: task, answer: `The report of the subagent: ${answer}` };
    return this.#turn("Let a subagent look around.", [this.#step([{ ...call, subagent }])]);
  }

  #typed(): Turn {
    const { command, marker } = this.markers.printed();
    const slow = this.#call(
      "Bash",
      { command: `sleep ${SLOW_SECONDS}; ${command}`, description: "Waits" },
      marker,
    );
    const typed = `Also keep the changelog short. ${this.markers.next("typed")}`;
    return this.#turn("Wait for the slow check.", [{ ...this.#step([slow]), typed }]);
  }

  #turn(request: string, steps: readonly Step[]): Turn {
    return { prompt: this.#prompt(request), steps: [...steps, this.#answer()] };
  }

  #prompt(request: string): string {
    return `${request} ${this.markers.next("prompt")}`;
  }

  #step(calls: readonly Call[]): Step {
    return {
      thinking: `I weigh two ways. ${this.markers.next("thought")}`,
      text: `I run ${calls.length}. ${this.markers.next("text")}`,
      calls,
    };
  }

  #answer(): Step {
    const marker = this.markers.next("text");
    return { text: `${marker}\n${filler(marker, TEXT_SENTENCES)}` };
  }

  #read(sentences: number): Call {
    const marker = this.markers.next("file");
    const path = join(this.#workspace, "src", `module-${marker.slice(2, -4)}.txt`);
    this.#files.set(path, `${filler(marker, sentences)}\nThe end of ${marker}.\n`);
    return this.#call("Read", { file_path: path }, marker);
  }

  #command(): Call {
    const { command, marker } = this.markers.printed();
    const log = `seq ${this.#calls * LOG_LINES} ${(this.#calls + 1) * LOG_LINES}`;
    const input = { command: `${command}; ${log}`, description: `Prints ${this.markers.next("call")}` };
    return this.#call("Bash", input, marker);
  }

  #call(name: string, input: Readonly<Record<string, unknown>>, result?: string): Call {
    const id = `toolu_scripted${String(++this.#calls).padStart(4, "0")}`;
    return { id, name, input, ...(result === undefined ? {} : { result }) };
  }
}
