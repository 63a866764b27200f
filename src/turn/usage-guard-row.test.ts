import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, usage } from "../../test/support/builders.ts";
import { ScriptSample } from "./script-sample.ts";
import { UsageGuard, type UsageVerdict } from "./usage-guard.ts";

interface Course {
  readonly overheadTokens?: number;
  readonly overheadKnown?: boolean;
  readonly ceiling?: number;
  /** True tokens per estimated one. */
  readonly ratio?: number;
  readonly startTokens?: number;
  readonly stepTokens?: number;
}

/** A conversation that grows by the same amount each turn, and what becomes of the figures it reports. */
class Conversation {
  readonly guard = new UsageGuard();
  readonly #course: Required<Course>;
  #estimate: number;
  #hidden = 0;
  #anchor: number | undefined;
  #estimateAtAnchor = 0;

  constructor(course: Course = {}) {
    this.#course = {
      overheadTokens: 20_000,
      overheadKnown: false,
      ceiling: 1.65,
      ratio: 1,
      startTokens: 500,
      stepTokens: 2_000,
      ...course,
    };
    this.#estimate = this.#course.startTokens;
  }

  get trueTokens(): number {
    return this.#course.overheadTokens + this.#hidden + this.#estimate * this.#course.ratio;
  }

  hide(tokens: number): void {
    this.#hidden += tokens;
  }

  shrink(tokens: number): void {
    this.#estimate -= tokens;
  }

  rebase(): void {
    this.guard.rebase();
    this.#anchor = undefined;
  }

  turn(report: (trueTokens: number) => number = (tokens) => tokens): UsageVerdict {
    const { overheadTokens, overheadKnown, ceiling, stepTokens } = this.#course;
    const whole = this.#estimate + (overheadKnown ? overheadTokens : 0);
    const verdict = this.guard.judge({
      usage: usage(report(this.trueTokens), 10),
      expectedTokens: this.#anchor === undefined ? whole : this.#anchor + whole - this.#estimateAtAnchor,
      anchorTokens: this.#anchor,
      estimateOfWhole: whole,
      overheadKnown,
      ceiling,
      windowTokens: 200_000,
    });
    if (verdict.trusted) {
      this.#anchor = verdict.tokens;
      this.#estimateAtAnchor = whole;
    }
    this.#estimate += stepTokens;
    return verdict;
  }

  turns(count: number, report?: (trueTokens: number) => number): readonly UsageVerdict[] {
    return Array.from({ length: count }, () => this.turn(report));
  }
}

const distrusted = (verdicts: readonly UsageVerdict[]): number =>
  verdicts.filter(({ trusted }) => !trusted).length;
const times =
  (factor: number) =>
  (tokens: number): number =>
    tokens * factor;

describe("figures in a row", () => {
  it.each([0.7, 1, 1.4, 1.6])("true ones are trusted at %d tokens per estimated one", (ratio) => {
    expect(distrusted(new Conversation({ ratio }).turns(60))).toBe(0);
    expect(distrusted(new Conversation({ ratio, overheadTokens: 90_000 }).turns(60))).toBe(0);
  });

  it("lumps that the host hides are trusted, again and again", () => {
    const conversation = new Conversation();
    for (let lump = 0; lump < 5; lump++) {
      expect(distrusted(conversation.turns(6))).toBe(0);
      conversation.hide(40_000);
    }
    expect(distrusted(conversation.turns(20))).toBe(0);
  });

  it.each([2, 6])("%d times too high from the start is caught at once where all is known", (factor) => {
    const conversation = new Conversation({ overheadKnown: true });
    expect(distrusted(conversation.turns(80, times(factor)))).toBe(80);
  });

  it("doubled from the start is caught by its growth where system prompt and tools are unknown", () => {
    const conversation = new Conversation();
    expect(distrusted(conversation.turns(15, times(2)))).toBe(0);
    const verdicts = conversation.turns(120, times(2));
    expect(distrusted(verdicts)).toBe(120);
    for (const verdict of conversation.turns(5, times(2))) {
      const expected = verdict.trusted ? 0 : verdict.expectedTokens;
      expect(Math.abs(expected / conversation.trueTokens - 1)).toBeLessThan(0.25);
    }
  });

  it("six times from the start is caught at the first response where the request is large", () => {
    expect(distrusted(new Conversation({ startTokens: 30_000 }).turns(60, times(6)))).toBe(60);
  });

  it("figures that are right again are trusted again at once, whichever way they were wrong", () => {
    for (const wrong of [times(2), times(6), times(0.01), () => 0, () => Number.NaN]) {
      const conversation = new Conversation({ startTokens: 50_000 });
      expect(distrusted(conversation.turns(30))).toBe(0);
      expect(distrusted(conversation.turns(10, wrong))).toBe(10);
      expect(distrusted(conversation.turns(30))).toBe(0);
    }
  });

  it("after figures doubled from the start, right ones are trusted again", () => {
    const conversation = new Conversation();
    expect(distrusted(conversation.turns(40, times(2)))).toBeGreaterThan(0);
    expect(distrusted(conversation.turns(30))).toBe(0);
  });

  it("every other figure wrong: only those are distrusted", () => {
    const conversation = new Conversation({ startTokens: 50_000 });
    conversation.turn();
    for (let turn = 0; turn < 40; turn++) {
      expect(conversation.turn(times(6)).trusted).toBe(false);
      expect(conversation.turn().trusted).toBe(true);
    }
  });

  it.each([120_000, -66_000])(
    "a real jump by %d tokens is believed once growth goes on as before",
    (jump) => {
      const conversation = new Conversation({ overheadTokens: 70_000, startTokens: 5_000 });
      conversation.turns(5);
      conversation.hide(jump);
      const verdicts = conversation.turns(20);
      expect(verdicts[0]?.trusted).toBe(false);
      expect(distrusted(verdicts)).toBeLessThanOrEqual(4);
      expect(verdicts.at(-1)?.trusted).toBe(true);
    },
  );

  it("a jump in a conversation of many tokens per estimated one is believed as well", () => {
    const conversation = new Conversation({ ratio: 1.6, startTokens: 30_000 });
    conversation.turns(30);
    conversation.hide(150_000);
    expect(distrusted(conversation.turns(20))).toBeLessThanOrEqual(4);
  });

  it("figures that stand still in a growing conversation are not believed", () => {
    const conversation = new Conversation({ startTokens: 50_000 });
    conversation.turns(3);
    expect(distrusted(conversation.turns(40, () => 500_000))).toBe(40);
    expect(distrusted(new Conversation({ startTokens: 50_000 }).turns(40, () => 4))).toBe(40);
  });

  it("a rewritten conversation starts anew, but a way of counting is remembered", () => {
    const conversation = new Conversation();
    conversation.turns(25, times(2));
    conversation.rebase();
    expect(conversation.turn(times(2)).trusted).toBe(false);
  });

  it("a request whose frame changes every turn is no way of counting", () => {
    const conversation = new Conversation();
    for (let turn = 0; turn < 20; turn++) {
      expect(conversation.turn().trusted).toBe(true);
      conversation.hide(4_000);
      conversation.rebase();
    }
  });

  it("after a change of frame what to go by instead is reckoned from there", () => {
    const conversation = new Conversation();
    conversation.turns(25, times(2));
    conversation.hide(10_000);
    conversation.rebase();
    const trueTokens = conversation.trueTokens;
    const verdict = conversation.turn(times(2));
    expect(verdict.trusted ? 0 : verdict.expectedTokens).toBeCloseTo(trueTokens, -3);
  });

  it("a conversation that shrank meanwhile tells as much by its growth", () => {
    const conversation = new Conversation();
    conversation.turns(10, times(2));
    conversation.shrink(18_000);
    expect(distrusted(conversation.turns(10, times(2)))).toBeGreaterThan(0);
  });

  it("a jump that comes and goes is never believed, however steady each time", () => {
    const conversation = new Conversation({ startTokens: 50_000 });
    conversation.turns(3);
    for (let time = 0; time < 8; time++) {
      expect(distrusted(conversation.turns(2, (tokens) => tokens + 300_000))).toBe(2);
      expect(conversation.turn().trusted).toBe(true);
    }
  });

  it("an overflow proves the figures right", () => {
    const conversation = new Conversation({ ratio: 2.2 });
    expect(distrusted(conversation.turns(40))).toBeGreaterThan(0);
    conversation.guard.overflowed();
    expect(conversation.turns(20).at(-1)?.trusted).toBe(true);
    expect(distrusted(conversation.turns(20))).toBe(0);
  });
});

describe("how far an estimate can be off", () => {
  const sample = (...texts: readonly string[]): number => {
    const subject = new ScriptSample();
    for (const text of texts) subject.addText(text);
    return subject.ceiling;
  };
  const hindi = "हमें सेटिंग फ़ाइल को नई डायरेक्टरी में ले जाना है ";

  it("little in Latin letters, much in others", () => {
    expect(sample()).toBe(1.65);
    expect(sample("", "move the file to the harbour, café and Øresund included")).toBe(1.65);
    expect(sample("žluťoučký kůň úpěl ďábelské ódy")).toBe(1.65);
    expect(sample(hindi)).toBe(3.2);
  });

  it("goes by how much there is of each", () => {
    expect(sample("plain words ".repeat(100), hindi)).toBe(1.65);
    expect(sample("plain words", hindi)).toBe(3.2);
  });

  it("reads texts and results of messages, and passes over everything else", () => {
    const builder = new ConversationBuilder();
    builder.user([toolResult("a", hindi), toolResult("b", [{ type: "text", text: hindi }])]);
    builder.user([toolResult("c", [null, 7] as never)]);
    builder.boundary();
    builder.push({ type: "user", message: { content: [null, { type: "text" }, 5] } } as never);
    const subject = new ScriptSample();
    for (const entry of builder.entries) subject.add(entry);
    expect(subject.ceiling).toBe(3.2);
  });
});
