import type { NaturalQuestion } from "./natural-question.ts";

/** Questions about ten sessions, written without knowledge of recall and of the other questions. */
export const STRANGERS_QUESTIONS: readonly NaturalQuestion[] = [
  {
    session: "context-evaluator__8209f1c2.jsonl",
    question: "Does a person have to sign off the generated remediation plan before it gets carried out?",
    answers: [{ uuid: "ae377325-dd26-460d-ade4-32ec2c20879b", start: 923, length: 18 }],
  },
  {
    session: "context-evaluator__8209f1c2.jsonl",
    question: "Why did a remediation run die during cleanup even though all of its phases had gone through?",
    answers: [
      { uuid: "77e43641-bb4e-4018-8de3-37c79f8939bc", start: 406, length: 22 },
      { uuid: "cc836c9c-5431-4dc3-9d66-a7f3eb274283", start: 107, length: 22 },
    ],
  },
  {
    session: "entireio-cli__86cc3044.jsonl",
    question: "What did the user remember later as the real reason his resume command had failed?",
    answers: [{ uuid: "20ea6493-6fd5-4a0c-b362-1f7b7c9731d0", start: 44, length: 25 }],
  },
  {
    session: "entireio-cli__86cc3044.jsonl",
    question: "Why didn't we reuse the existing branch-fetching helper for pulling down session data?",
    answers: [{ uuid: "aab06a4a-6ef3-4658-baa6-0f13dec5ce68", start: 468, length: 22 }],
  },
  {
    session: "entireio-cli__70d782f7.jsonl",
    question: "Of the minor review remarks, which numbers did the user want left alone?",
    answers: [
      { uuid: "92245877-f1c5-42f4-b6f1-c3b1f82b16f8", start: 0, length: 12 },
      { uuid: "ab2eee98-cf88-4138-91ba-65a942724e62", start: 329, length: 18 },
    ],
  },
  {
    session: "entireio-cli__70d782f7.jsonl",
    question: "Why did the lint job fail in CI although everything was green on our machine?",
    answers: [
      { uuid: "f8765bf7-50bd-425f-bf83-3f0e679f83e3", start: 82, length: 10 },
      { uuid: "d0868756-ec03-46ab-9a52-f803756537d3", start: 21, length: 17 },
      { uuid: "36f4502f-28b5-4630-8996-1fd50a59accf", start: 91, length: 16 },
      { uuid: "7a184ebf-6bab-42f9-acbe-d3980ebdb0ca", start: 62, length: 16 },
      { uuid: "585e80c8-0ac3-461e-94d4-8c367b8e78a0", start: 21, length: 11 },
    ],
  },
  {
    session: "entireio-cli__fdd24234.jsonl",
    question: "When is Claude allowed to start e2e runs, and why so strict?",
    answers: [
      { uuid: "1c5bd24d-8ecf-4b16-8912-91a07fe0e210", start: 121, length: 14 },
      { uuid: "5091f4da-fc01-4b71-875a-b0bc43a4be0a", start: 531, length: 14 },
      { uuid: "3c325805-5d85-4327-a136-0c2c735c5a92", start: 1569, length: 14 },
      { uuid: "3666f6a9-155d-4f53-ab8f-99efacdc4cca", start: 409, length: 14 },
    ],
  },
  {
    session: "entireio-cli__fdd24234.jsonl",
    question: "Why was a file the user had rewritten by hand still attributed to the agent session?",
    answers: [
      { uuid: "389f83f3-4563-4203-9fe0-c5a94f1e795f", start: 331, length: 102 },
      { uuid: "6ec05b6e-76dd-4436-adc9-8dfd34df8b37", start: 1990, length: 48 },
      { uuid: "c130ef40-bb1c-4519-ae20-0b8c3a8ddad2", start: 171, length: 66 },
      { uuid: "644b0d8e-1214-4c7d-972b-d9fecadfe0d4", start: 505, length: 48 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "What did the user blame for the four files that kept turning up dirty?",
    answers: [
      { uuid: "e24355d3-a50d-4030-9d51-cb0b04f50427", start: 21, length: 16 },
      { uuid: "0bdbef6a-97b2-46bd-b7dc-68c8472828ec", start: 34, length: 19 },
      { uuid: "cf10adcc-9db0-4f4a-88a5-4dd1e094f59e", start: 29, length: 21 },
      { uuid: "9efa1696-7560-476d-84a3-87c14c4cc728", start: 134, length: 20 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "Why did the pipeline complain about code that isn't on our branch?",
    answers: [
      { uuid: "8e046831-98db-46bb-b710-31f77b289edd", start: 51, length: 12 },
      { uuid: "52851edf-9998-4ec3-98e7-dd0209f311a8", start: 141, length: 12 },
      { uuid: "4b5d1ff7-03cb-41dc-a6bf-93f755b5faca", start: 183, length: 12 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "Which model did the user want to critique our plans, after stopping the first reviewer?",
    answers: [
      { uuid: "01b6edf5-51b8-4c57-a277-9bc0a123d3b7", start: 17, length: 9 },
      { uuid: "f8c23f04-52e4-46df-9281-09eb8899f5fb", start: 16, length: 11 },
      { uuid: "ccc57e46-56d2-4021-a75b-62e3e9ad4df4", start: 22, length: 7 },
      { uuid: "45187bbf-4fa6-4572-a7ad-3807c31ecaac", start: 16, length: 11 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "Why did the clock vanish from the prompt as soon as we fed it fixed sample data?",
    answers: [
      { uuid: "c10c7376-2310-44b5-931e-737625882040", start: 187, length: 25 },
      { uuid: "56ce898d-fa26-4819-a3cd-5c956b54a32e", start: 799, length: 24 },
      { uuid: "d19360de-d5ed-4659-9f6a-a4ef081e717e", start: 565, length: 24 },
      { uuid: "fea2a24d-b218-4860-ab0e-ec19762ea260", start: 1674, length: 24 },
      { uuid: "6d076348-b7dc-4ca5-bf53-8c550d2c093f", start: 1950, length: 20 },
    ],
  },
  {
    session: "oh-my-posh__e0a6db83.jsonl",
    question: "Which glitches did the user notice after his prompt had been recoloured with the new palette?",
    answers: [
      { uuid: "91fcd6bc-51e1-4667-a213-c4e14beeed8a", start: 185, length: 11 },
      { uuid: "3138252d-4bc0-49f1-8a8c-7b4a1cab9d3a", start: 913, length: 11 },
    ],
  },
  {
    session: "oh-my-posh__e0a6db83.jsonl",
    question: "Why was accent unusable in gradients at first?",
    answers: [
      { uuid: "e787da88-164a-4b5d-a007-267259244483", start: 325, length: 12 },
      { uuid: "40b1ab37-b014-4fc3-8280-48e4646a5ee9", start: 1314, length: 17 },
      { uuid: "90b040a5-ef56-41ad-894f-c255d3fd7749", start: 274, length: 12 },
      { uuid: "a1fae2dd-f379-4948-81c5-32fc6bddda08", start: 190, length: 17 },
      { uuid: "ba465079-69bd-40b7-94b2-6ac7be60f871", start: 139, length: 17 },
    ],
  },
  {
    session: "sniffly__d3ad4cdc.jsonl",
    question: "What bothered the user about the very first audio that came out?",
    answers: [
      { uuid: "fda6190e-db94-4b7c-9ba9-99186a073ac2", start: 63, length: 24 },
      { uuid: "786adc06-6c6a-4344-b6f3-1b9a2daa8783", start: 113, length: 14 },
    ],
  },
  {
    session: "sniffly__d3ad4cdc.jsonl",
    question: "Which embedding model came out on top for diversity, and with what score?",
    answers: [
      { uuid: "b0c91c89-5cdf-41fd-adf4-98855d12e9f2", start: 19214, length: 4 },
      { uuid: "32fe4253-631d-49e4-a531-d3a2d1c61742", start: 611, length: 4 },
      { uuid: "29feee6d-06ea-4705-a172-263fdc109fb8", start: 518, length: 4 },
      { uuid: "171001ad-7efb-47b9-9d88-b7c11636dfa5", start: 105, length: 4 },
    ],
  },
  {
    session: "spotter__4d5611e5.jsonl",
    question: "The commit hook tripped over files we hadn't changed: what did the user decide?",
    answers: [{ uuid: "95b994d4-cb05-46ca-9267-9a615aed06fa", start: 159, length: 14 }],
  },
  {
    session: "spotter__4d5611e5.jsonl",
    question: "Why did staging spotter.css fail, and how did we get it in anyway?",
    answers: [
      { uuid: "a711101a-3d43-4c9b-ac77-51196a2e25b4", start: 36, length: 22 },
      { uuid: "3b733706-cf54-4f9a-91ee-312fb06c63f8", start: 50, length: 10 },
      { uuid: "e71dc5e4-13d1-45a6-ae6e-8b6d52501d72", start: 58, length: 9 },
      { uuid: "69c0014f-9cc5-4729-9c71-448783d27ab5", start: 16, length: 6 },
    ],
  },
  {
    session: "cc-viewer__fe5e1c67.jsonl",
    question: "What error stopped the production build of the todo app?",
    answers: [
      { uuid: "89a46461-72ed-4788-8a3d-e7a0e3fad9ba", start: 245, length: 26 },
      { uuid: "6b4a7d8e-7778-4a88-8b0a-09f9e495a807", start: 245, length: 26 },
      { uuid: "1676bbc6-5265-4775-b6c4-392510574ff3", start: 245, length: 26 },
      { uuid: "6ebc2568-a150-403f-89f0-ac5fb13b7841", start: 245, length: 26 },
    ],
  },
  {
    session: "cc-viewer__fe5e1c67.jsonl",
    question: "The type definitions had gone missing: where had they really ended up?",
    answers: [{ uuid: "fc3aebd3-9d0d-42c4-9d63-8ae195e360e1", start: 47, length: 31 }],
  },
];
