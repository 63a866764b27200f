import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, usage } from "../../../../test/support/builders.ts";
import { ScriptSample, UsageGuard, type UsageVerdict } from "./usage-trust.ts";

const LATIN_MAX_OVERCOUNT = 2;

interface Course {
  readonly overheadTokens?: number;
  readonly isOverheadKnown?: boolean;
  readonly maxRatio?: number;
  /** Actual tokens per estimated token. */
  readonly ratio?: number;
  readonly startTokens?: number;
  readonly stepTokens?: number;
}

/**
 * A conversation that grows by the same amount each turn. Its methods return the verdicts on usage reports.
 */
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
      isOverheadKnown: false,
      maxRatio: 1.65,
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

  /** Forgets the last trusted report, as after a compaction. */
  rewrite(): void {
    this.#anchor = undefined;
  }

  turn(report: (trueTokens: number) => number = (tokens) => tokens): UsageVerdict {
    const { overheadTokens, isOverheadKnown, maxRatio, stepTokens } = this.#course;
    const whole = this.#estimate + (isOverheadKnown ? overheadTokens : 0);
    const verdict = this.guard.judge({
      usage: usage(report(this.trueTokens), 10),
      expectedTokens: this.#anchor === undefined ? whole : this.#anchor + whole - this.#estimateAtAnchor,
      anchorTokens: this.#anchor,
      estimatedRequestTokens: whole,
      minTokens: whole / LATIN_MAX_OVERCOUNT,
      isOverheadKnown: isOverheadKnown,
      maxRatio,
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

describe("consecutive usage reports", () => {
  it.each([0.7, 1, 1.4, 1.6])(
    "trusts true usage reports at %d actual tokens per estimated token",
    (ratio) => {
      expect(distrusted(new Conversation({ ratio }).turns(60))).toBe(0);
      expect(distrusted(new Conversation({ ratio, overheadTokens: 90_000 }).turns(60))).toBe(0);
    },
  );

  it("trusts true usage reports that grow repeatedly by tokens that the engine cannot see", () => {
    const conversation = new Conversation();
    for (let lump = 0; lump < 5; lump++) {
      expect(distrusted(conversation.turns(6))).toBe(0);
      conversation.hide(40_000);
    }
    expect(distrusted(conversation.turns(20))).toBe(0);
  });

  it.each([2, 6])(
    "distrusts the first of several usage reports of %d times the true size, and trusts the others",
    (factor) => {
      const conversation = new Conversation({ isOverheadKnown: true });
      expect(distrusted(conversation.turns(40, times(factor)))).toBe(1);
      conversation.rewrite();
      expect(distrusted(conversation.turns(40, times(factor)))).toBeLessThanOrEqual(1);
    },
  );

  it("trusts a high usage report as soon as it repeats", () => {
    const conversation = new Conversation({ startTokens: 50_000 });
    conversation.turns(3);
    expect(distrusted(conversation.turns(40, () => 500_000))).toBe(1);
  });

  it.each([0.4, 0.1, 0.01])(
    "never trusts usage reports of %d times the true size, however many come",
    (factor) => {
      for (const isOverheadKnown of [true, false]) {
        const conversation = new Conversation({
          startTokens: 50_000,
          overheadTokens: 5_000,
          isOverheadKnown,
        });
        expect(distrusted(conversation.turns(80, times(factor)))).toBe(80);
      }
    },
  );

  it("never trusts a usage report of 4 tokens, however often it repeats", () => {
    expect(distrusted(new Conversation({ startTokens: 50_000 }).turns(40, () => 4))).toBe(40);
  });

  it("trusts correct usage reports at once after wrong ones", () => {
    for (const wrong of [times(2), times(6), times(0.01), () => 0, () => Number.NaN]) {
      const conversation = new Conversation({ startTokens: 50_000 });
      expect(distrusted(conversation.turns(30))).toBe(0);
      expect(distrusted(conversation.turns(10, wrong))).toBeGreaterThan(0);
      expect(distrusted(conversation.turns(30))).toBe(0);
    }
  });

  it("distrusts only the wrong usage reports if wrong and true reports alternate", () => {
    const conversation = new Conversation({ startTokens: 50_000 });
    conversation.turn();
    for (let turn = 0; turn < 40; turn++) {
      expect(conversation.turn(times(6)).trusted).toBe(false);
      expect(conversation.turn().trusted).toBe(true);
    }
  });

  it.each([120_000, -66_000])(
    "distrusts at most one usage report after the request really changes by %d tokens",
    (jump) => {
      const conversation = new Conversation({ overheadTokens: 70_000, startTokens: 5_000 });
      conversation.turns(5);
      conversation.hide(jump);
      expect(distrusted(conversation.turns(20))).toBeLessThanOrEqual(1);
    },
  );

  it("trusts true usage reports if system prompt and tools change every turn", () => {
    const conversation = new Conversation();
    for (let turn = 0; turn < 20; turn++) {
      expect(conversation.turn().trusted).toBe(true);
      conversation.hide(4_000);
      conversation.rewrite();
    }
  });

  it("trusts high usage reports after an overflow at once", () => {
    const conversation = new Conversation({ isOverheadKnown: true });
    conversation.guard.recordOverflow();
    expect(distrusted(conversation.turns(20, times(3)))).toBe(0);
  });
});

describe("maximum error of an estimate", () => {
  const sample = (...texts: readonly string[]): number => {
    const subject = new ScriptSample();
    for (const text of texts) subject.addText(text);
    return subject.maxRatio;
  };
  const hindi = "हमें सेटिंग फ़ाइल को नई डायरेक्टरी में ले जाना है ";

  it("expects a small error of the estimate for Latin text and a large error for other scripts", () => {
    expect(sample()).toBe(1.65);
    expect(sample("", "move the file to the harbour, café and Øresund included")).toBe(1.65);
    expect(sample("žluťoučký kůň úpěl ďábelské ódy")).toBe(1.65);
    expect(sample(hindi)).toBe(3.2);
  });

  it("the share of other scripts in all texts determines the maximum error of the estimate", () => {
    expect(sample("plain words ".repeat(100), hindi)).toBe(1.65);
    expect(sample("plain words", hindi)).toBe(3.2);
  });

  it("determines the script from texts and tool results, and skips invalid values", () => {
    const builder = new ConversationBuilder();
    builder.user([toolResult("a", hindi), toolResult("b", [{ type: "text", text: hindi }])]);
    builder.user([toolResult("c", [null, 7] as never)]);
    builder.boundary();
    builder.push({ type: "user", message: { content: [null, { type: "text" }, 5] } } as never);
    const subject = new ScriptSample();
    for (const entry of builder.entries) subject.add(entry);
    expect(subject.maxRatio).toBe(3.2);
    expect(subject.maxOvercount).toBe(3.2);
    expect(new ScriptSample().maxOvercount).toBe(LATIN_MAX_OVERCOUNT);
  });
});
