/** Emoji alone, in rows, with skin tones and joiners, as flags and key caps, and sprinkled over chat. */
import { type Choices, choices, grow } from "./random.ts";

const POPULAR = [
  ..."😀😃😄😁😆😅😂🤣😊🙂😉😍🥰😘😋😎🤔😐🙄😴😭😢😡🤯🥳👍👎👏🙏💪👀🔥✨🎉🚀💯💡📌📝📊📈🐛🔧⚡🌟💻🤖🧪📦🔒🔍🌍🍕🐶🐱🌸🌈🎂🎁🏆⚽🎮🎵💰📱💔💙💚💜",
];
const TEXTUAL = ["❤️", "✅", "❌", "⚠️", "☀️", "⭐", "✔️", "➡️", "☕", "ℹ️", "♻️", "✌️", "☎️", "✈️"];
const HANDS = [..."👍👎👏🙏💪👋✋👌🤞🤷🤦🙋"];
const TONES = [..."🏻🏼🏽🏾🏿"];
const JOINED = ["👨‍👩‍👧‍👦", "👩‍💻", "👨‍🚀", "🏳️‍🌈", "🧑‍🤝‍🧑", "🤷‍♂️", "🤦‍♀️", "👩🏽‍🔬", "❤️‍🔥", "🐻‍❄️"];
const FLAGS = ["🇺🇸", "🇬🇧", "🇫🇷", "🇩🇪", "🇯🇵", "🇨🇳", "🇰🇷", "🇧🇷", "🇮🇳", "🇨🇦", "🇺🇦", "🇿🇦"];
const RANGES = [
  [0x1f300, 0x1f5ff],
  [0x1f600, 0x1f64f],
  [0x1f680, 0x1f6c5],
  [0x1f90c, 0x1f9ff],
  [0x1fa70, 0x1fa7c],
] as const;
const CHAT = [
  "that's hilarious",
  "good morning",
  "shipped it",
  "can't believe this worked",
  "happy birthday",
  "see you tomorrow",
  "tests are green",
  "who broke the build",
  "lunch?",
  "thank you so much",
  "deploying now",
];

function emoji(from: Choices): string {
  switch (from.below(9)) {
    case 0:
      return from.pick(HANDS) + from.pick(TONES);
    case 1:
      return from.pick(JOINED);
    case 2:
      return from.pick(FLAGS);
    case 3:
      return from.pick(TEXTUAL);
    case 4:
      return `${from.below(10)}️⃣`;
    case 5:
    case 6: {
      const [low, high] = from.pick(RANGES);
      return String.fromCodePoint(from.between(low, high));
    }
    default:
      return from.pick(POPULAR);
  }
}

export function emojiCorpus(length: number, seed = 17): string {
  const from = choices(seed);
  return grow(length, "\n", () => {
    switch (from.below(4)) {
      case 0:
        return Array.from({ length: from.between(5, 40) }, () => emoji(from)).join("");
      case 1:
        return Array.from({ length: from.between(5, 20) }, () => emoji(from)).join(" ");
      case 2:
        return from.pick(POPULAR).repeat(from.between(2, 9));
      default:
        return `${from.pick(CHAT)} ${emoji(from)}${emoji(from)} ${from.pick(CHAT)}${from.chance(0.5) ? "!" : ""} ${emoji(from)}`;
    }
  });
}
