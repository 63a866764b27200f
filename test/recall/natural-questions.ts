import type { NaturalQuestion } from "./ask.ts";

/** Questions about the recorded sessions, in own words. They contain no text of the sessions. */
export const NATURAL_QUESTIONS: readonly NaturalQuestion[] = [
  {
    session: "entireio-cli__70d782f7.jsonl",
    question: "what is the user's GitHub handle",
    answers: [
      { uuid: "bb929e33-38b2-48de-ab86-0bf944065c12", start: 53, length: 6 },
      { uuid: "bb929e33-38b2-48de-ab86-0bf944065c12", start: 18, length: 6 },
    ],
  },
  {
    session: "entireio-cli__70d782f7.jsonl",
    question: "How should temporary checkpoints be grouped according to the user?",
    answers: [{ uuid: "474435f2-ac54-4428-a51a-57a15c79ff44", start: 47, length: 18 }],
  },
  {
    session: "spotter__4d5611e5.jsonl",
    question: "why could the guard on session_record never be false?",
    answers: [{ uuid: "2481639d-5f6f-43b4-91cd-5236e28df24e", start: 157, length: 14 }],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "which of the two design proposals does the user like better for the home page",
    answers: [{ uuid: "cffee3cf-7364-408d-a8d2-b6ea73669b1c", start: 218, length: 11 }],
  },
  {
    session: "entireio-cli__fdd24234.jsonl",
    question: "under which condition may Claude run the end-to-end tests?",
    answers: [
      { uuid: "1c5bd24d-8ecf-4b16-8912-91a07fe0e210", start: 121, length: 14 },
      { uuid: "3666f6a9-155d-4f53-ab8f-99efacdc4cca", start: 377, length: 7 },
    ],
  },
];
