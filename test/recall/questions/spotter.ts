import type { NaturalQuestion } from "./natural-question.ts";

/** Questions about two sessions of spotter. */
export const SPOTTER_QUESTIONS: readonly NaturalQuestion[] = [
  {
    session: "spotter__4d5611e5.jsonl",
    question: "Why did dialyzer complain about a guard in SubagentLive?",
    answers: [{ uuid: "2481639d-5f6f-43b4-91cd-5236e28df24e", start: 32, length: 36 }],
  },
  {
    session: "spotter__4d5611e5.jsonl",
    question: "Should I skip the pre-commit hook or repair the old credo and dialyzer findings?",
    answers: [
      { uuid: "95b994d4-cb05-46ca-9267-9a615aed06fa", start: 159, length: 30 },
      { uuid: "9b8546ff-f21d-45ce-96de-1801a2a0f2ff", start: 0, length: 34 },
    ],
  },
  {
    session: "spotter__4d5611e5.jsonl",
    question: "Which CSS file is tracked by git although its folder is ignored?",
    answers: [
      { uuid: "faa42ebd-448b-4d68-b481-02e6f11e3146", start: 0, length: 30 },
      { uuid: "69c0014f-9cc5-4729-9c71-448783d27ab5", start: 12, length: 41 },
      { uuid: "e71dc5e4-13d1-45a6-ae6e-8b6d52501d72", start: 5, length: 44 },
    ],
  },
  {
    session: "spotter__4d5611e5.jsonl",
    question: "Why did I remove the event handler for expanding tool results again?",
    answers: [{ uuid: "b3d486de-80ab-4809-9f78-56c457b827a0", start: 103, length: 32 }],
  },
  {
    session: "spotter__4d5611e5.jsonl",
    question: "What is the commit hash of the unified transcript work?",
    answers: [{ uuid: "3da24c99-3116-47ab-876f-1245f3d03845", start: 13, length: 7 }],
  },
  {
    session: "spotter__4d5611e5.jsonl",
    question: "Who is the owner of the transcript epic?",
    answers: [
      { uuid: "e49c8775-5beb-4fd7-aeb3-2016ccb1e57b", start: 112, length: 19 },
      { uuid: "00ad4516-ced6-429c-9010-5071d265e276", start: 101, length: 19 },
      { uuid: "c887dc33-0fc7-48f6-abcd-d1c30ef1f882", start: 126, length: 19 },
      { uuid: "53eecee6-c44f-4c14-8760-41fd5fafb2e7", start: 107, length: 19 },
      { uuid: "87b9a736-4a8e-4fbb-8471-577b9a1f2149", start: 112, length: 19 },
    ],
  },
  {
    session: "spotter__4d5611e5.jsonl",
    question: "Where did the behavior of the TranscriptSelection hook go?",
    answers: [
      { uuid: "93bdef14-25b1-400d-9eba-042161632e6e", start: 11, length: 52 },
      { uuid: "dd4e2d4a-58dd-4759-abc6-82120a242ab9", start: 72, length: 35 },
      { uuid: "f445174c-46cd-4e3e-80cf-5705bfd59312", start: 1107, length: 57 },
      { uuid: "724a17e9-e92e-4f2a-a0d5-2eaf2fb243b9", start: 436, length: 52 },
      { uuid: "1af353f6-0301-4ad7-af7d-37f0d46a3a36", start: 175, length: 45 },
      { uuid: "f643c548-0ae5-4846-a39d-6fc8b184f28a", start: 167, length: 53 },
    ],
  },
  {
    session: "spotter__4d5611e5.jsonl",
    question: "How many rows of tool output does a reader see before expanding?",
    answers: [
      { uuid: "f445174c-46cd-4e3e-80cf-5705bfd59312", start: 633, length: 40 },
      { uuid: "e49c8775-5beb-4fd7-aeb3-2016ccb1e57b", start: 1328, length: 25 },
      { uuid: "87b9a736-4a8e-4fbb-8471-577b9a1f2149", start: 1328, length: 25 },
      { uuid: "53eecee6-c44f-4c14-8760-41fd5fafb2e7", start: 1559, length: 32 },
      { uuid: "f6698287-faa7-4b34-8432-4fa5a8567510", start: 117, length: 26 },
      { uuid: "5909b4ea-7ddf-465e-ad57-218dfacc5ec3", start: 95, length: 26 },
    ],
  },
  {
    session: "spotter__4d5611e5.jsonl",
    question: "How do I list the tasks that are ready to be started?",
    answers: [{ uuid: "daa5a4bb-530c-4055-b20c-bde38255c99e", start: 79, length: 35 }],
  },
  {
    session: "spotter__4d5611e5__agent-a2898e3.jsonl",
    question: "Where is the CSS of that project kept, since it is not below assets?",
    answers: [
      { uuid: "67efc2f2-4576-4d71-8bc2-d243c4b64342", start: 50, length: 30 },
      { uuid: "f89c47f2-1cc7-42cb-b284-1a4484db5e79", start: 64, length: 30 },
      { uuid: "925ef363-c758-4b67-bc91-bc1001e9a2d9", start: 15778, length: 30 },
    ],
  },
];
