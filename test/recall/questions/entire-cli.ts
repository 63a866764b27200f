import type { NaturalQuestion } from "./natural-question.ts";

/** Questions about three sessions of entireio/cli. */
export const ENTIRE_CLI_QUESTIONS: readonly NaturalQuestion[] = [
  {
    session: "entireio-cli__86cc3044.jsonl",
    question: "What should entire resume pull by itself?",
    answers: [
      { uuid: "1e2a0ddc-24f6-46c7-87d6-4700c05494c8", start: 91, length: 42 },
      { uuid: "16a0cb28-b2fd-495d-8827-a2e48a8179ed", start: 97, length: 85 },
      { uuid: "e52886b8-0048-411f-af45-2b4d3dd74f1f", start: 246, length: 45 },
    ],
  },
  {
    session: "entireio-cli__86cc3044.jsonl",
    question: "What was the user's resume problem in the end: why could the branch not be switched?",
    answers: [{ uuid: "20ea6493-6fd5-4a0c-b362-1f7b7c9731d0", start: 38, length: 64 }],
  },
  {
    session: "entireio-cli__86cc3044.jsonl",
    question: "With which SSH problem did fetching the session data fail for the user?",
    answers: [{ uuid: "2e897026-037d-4858-b759-095d60c26921", start: 271, length: 63 }],
  },
  {
    session: "entireio-cli__86cc3044.jsonl",
    question: "Where is the constant with the name of the sessions branch defined?",
    answers: [{ uuid: "1c52c677-738c-4f2e-83e1-bc20df4f21e9", start: 176, length: 44 }],
  },
  {
    session: "entireio-cli__86cc3044.jsonl",
    question: "How long do the CLI's integration tests take?",
    answers: [{ uuid: "f5e215ad-966a-4f90-a27c-6fffaa8726e3", start: 132, length: 7 }],
  },
  {
    session: "entireio-cli__70d782f7.jsonl",
    question: "What is my GitHub user name?",
    answers: [{ uuid: "bb929e33-38b2-48de-ab86-0bf944065c12", start: 60, length: 24 }],
  },
  {
    session: "entireio-cli__70d782f7.jsonl",
    question: "Which low severity items did the user tell me to skip?",
    answers: [
      { uuid: "92245877-f1c5-42f4-b6f1-c3b1f82b16f8", start: 0, length: 28 },
      { uuid: "ab2eee98-cf88-4138-91ba-65a942724e62", start: 367, length: 43 },
      { uuid: "d25db328-4235-48d2-a266-c9405fd02edb", start: 14, length: 15 },
    ],
  },
  {
    session: "entireio-cli__70d782f7.jsonl",
    question: "How does the user want temporary checkpoints to be grouped?",
    answers: [
      { uuid: "474435f2-ac54-4428-a51a-57a15c79ff44", start: 37, length: 46 },
      { uuid: "37b77a1a-3d82-4a1d-a77c-b3017257afc6", start: 600, length: 51 },
      { uuid: "e34b98af-6f7a-4a37-84a1-9f3e231909f2", start: 4209, length: 25 },
      { uuid: "7bc7637d-982f-4ef3-b580-22b1dc706d3f", start: 145, length: 25 },
      { uuid: "c46bf13d-d215-4565-8d8b-8906eabaf966", start: 124, length: 25 },
      { uuid: "37cf3988-5b34-446f-b588-63e14875c758", start: 45, length: 46 },
      { uuid: "db9e7819-9287-4dde-8b69-8389f86a0138", start: 48, length: 24 },
      { uuid: "36d33d72-ffd0-48b9-ae62-0131fba68f54", start: 94, length: 41 },
      { uuid: "b7472be0-5757-4129-85a3-a40e3817788c", start: 145, length: 25 },
    ],
  },
  {
    session: "entireio-cli__70d782f7.jsonl",
    question: "Lint passed locally but failed in CI. What was the reason?",
    answers: [
      { uuid: "d0868756-ec03-46ab-9a52-f803756537d3", start: 0, length: 38 },
      { uuid: "585e80c8-0ac3-461e-94d4-8c367b8e78a0", start: 19, length: 42 },
      { uuid: "f8765bf7-50bd-425f-bf83-3f0e679f83e3", start: 62, length: 41 },
    ],
  },
  {
    session: "entireio-cli__70d782f7.jsonl",
    question: "I named the wrong commit for the second nil check. Which one really has it?",
    answers: [
      { uuid: "a4e602f5-c086-4bc0-89fd-da933931fbcb", start: 28, length: 54 },
      { uuid: "5ccdb72c-d305-4e09-941a-3e94113a582d", start: 7, length: 48 },
      { uuid: "f3161b1b-ef35-40cd-bde6-e4bf97cf3b8c", start: 118, length: 35 },
      { uuid: "e49a85ba-ea57-421c-8c55-e78cb0bb84aa", start: 48, length: 50 },
    ],
  },
  {
    session: "entireio-cli__70d782f7.jsonl",
    question: "Which isAncestor implementation was better, and why?",
    answers: [
      { uuid: "4e69c6e8-aa70-4a55-8abf-00dc80114993", start: 37, length: 59 },
      { uuid: "0f44a021-e738-45c6-9643-b8fcbf414742", start: 113, length: 15 },
      { uuid: "ee174ee1-2dd1-409e-b602-dc910f3eb67c", start: 175, length: 20 },
    ],
  },
  {
    session: "entireio-cli__70d782f7.jsonl",
    question: "Why won't we fix the quadratic complexity of the checkpoint lookup?",
    answers: [
      { uuid: "4724a11e-fe72-45ed-a36e-9c4d0811721c", start: 98, length: 60 },
      { uuid: "b691f4b8-3e1b-4ef0-aae8-b7cb590e7f11", start: 98, length: 60 },
      { uuid: "43c23492-33b4-4eb3-9637-1d310f8b3b37", start: 94, length: 43 },
      { uuid: "de6d1eab-c0d6-4bb7-9043-173b282a9753", start: 14081, length: 33 },
      { uuid: "6c2987e1-d3a5-4e37-83c4-216ed7f4d22e", start: 15276, length: 33 },
      { uuid: "317df66c-ce32-4bee-a467-758423633b19", start: 14931, length: 43 },
    ],
  },
  {
    session: "entireio-cli__70d782f7.jsonl",
    question: "What must I not forget when asking the API for new review comments?",
    answers: [
      { uuid: "80dead78-d307-4c98-a3f9-22bb5f6c1e1e", start: 52, length: 21 },
      { uuid: "18c19787-e385-4df1-b2b8-2a1bcae65f99", start: 231, length: 35 },
    ],
  },
  {
    session: "entireio-cli__70d782f7.jsonl",
    question: "The user stopped my comment on the pull request. Where did they want it instead?",
    answers: [{ uuid: "c968fd7d-fcfc-4eb4-872d-cd4528ad275f", start: 195, length: 72 }],
  },
  {
    session: "entireio-cli__70d782f7.jsonl",
    question: "In which file does the shared IsAncestorOf live now?",
    answers: [
      { uuid: "0f44a021-e738-45c6-9643-b8fcbf414742", start: 113, length: 56 },
      { uuid: "ec336c2c-61b8-415b-ad69-9283667e5a94", start: 302, length: 44 },
      { uuid: "4e69c6e8-aa70-4a55-8abf-00dc80114993", start: 154, length: 37 },
      { uuid: "5c8b02c4-bbf0-42ad-8ef8-a5f1216c4cbd", start: 127, length: 18 },
    ],
  },
  {
    session: "entireio-cli__fdd24234.jsonl",
    question: "Am I allowed to start E2E tests without being asked?",
    answers: [
      { uuid: "1c5bd24d-8ecf-4b16-8912-91a07fe0e210", start: 47, length: 88 },
      { uuid: "3666f6a9-155d-4f53-ab8f-99efacdc4cca", start: 709, length: 32 },
      { uuid: "5091f4da-fc01-4b71-875a-b0bc43a4be0a", start: 443, length: 32 },
      { uuid: "3c325805-5d85-4327-a136-0c2c735c5a92", start: 1481, length: 32 },
      { uuid: "1e8e68a6-39ed-485d-9230-e6535e0c7606", start: 73, length: 49 },
    ],
  },
  {
    session: "entireio-cli__fdd24234.jsonl",
    question: "Which of the missing scenarios did I recommend for an E2E test first, and why?",
    answers: [{ uuid: "0c8e6980-3655-42af-87d7-7c708621a68d", start: 1451, length: 48 }],
  },
  {
    session: "entireio-cli__fdd24234.jsonl",
    question: "Why was the content hash missing for auto-commit checkpoints?",
    answers: [
      { uuid: "e95ef0d1-ef5f-42b0-8ff3-c1ec35d1b4ba", start: 17, length: 57 },
      { uuid: "366273a6-ccee-4c0d-b0a3-a3cdb5f5c448", start: 90, length: 86 },
      { uuid: "2cb5fdf5-731f-4d96-af6e-a79d25407dea", start: 402, length: 84 },
    ],
  },
  {
    session: "entireio-cli__fdd24234.jsonl",
    question: "Does the user prefer a quick script or real unit tests for checking the heuristic?",
    answers: [{ uuid: "4c6c1427-1a70-470f-b042-83a08164453b", start: 0, length: 55 }],
  },
  {
    session: "entireio-cli__fdd24234.jsonl",
    question: "Why did we decide against a tokenizer and filter significant lines by length?",
    answers: [
      { uuid: "87dba357-db96-4371-8076-663dfc8888fb", start: 1188, length: 73 },
      { uuid: "1d98a5ce-225a-46f8-a44d-d5a3025da152", start: 5, length: 20 },
      { uuid: "35ae5b8e-0ca3-47ec-9348-9557231737b2", start: 170, length: 30 },
    ],
  },
  {
    session: "entireio-cli__fdd24234.jsonl",
    question: "Why did a manually rewritten file still count as overlap with the shadow file?",
    answers: [
      { uuid: "389f83f3-4563-4203-9fe0-c5a94f1e795f", start: 397, length: 89 },
      { uuid: "c130ef40-bb1c-4519-ae20-0b8c3a8ddad2", start: 209, length: 61 },
    ],
  },
  {
    session: "entireio-cli__fdd24234.jsonl",
    question: "How many matching significant lines count as overlap, and what about very small files?",
    answers: [
      { uuid: "0385322a-e751-49d9-a6f7-f6ce4e050e9e", start: 107, length: 35 },
      { uuid: "5235dd89-a729-4349-9869-fb6bd0b2567d", start: 241, length: 34 },
      { uuid: "554c5552-caa9-4c32-ba6b-9e22561892d2", start: 600, length: 39 },
    ],
  },
  {
    session: "entireio-cli__fdd24234.jsonl",
    question: "If the shadow branch no longer has a touched file, is that a match?",
    answers: [
      { uuid: "6f7dcfc2-ca5c-4252-b515-59bc6a0b9308", start: 197, length: 31 },
      { uuid: "3f360a9e-61cd-478b-bdd5-46dbd5f2319d", start: 110, length: 31 },
      { uuid: "f5968a7d-9941-4f35-8c43-0144536356ac", start: 189, length: 49 },
      { uuid: "c130ef40-bb1c-4519-ae20-0b8c3a8ddad2", start: 1024, length: 64 },
    ],
  },
  {
    session: "entireio-cli__fdd24234.jsonl",
    question: "How well was hasSignificantContentOverlap covered before I added tests?",
    answers: [
      { uuid: "3118f901-f911-4c34-9980-332ab5838531", start: 114, length: 38 },
      { uuid: "e1eaaa21-1146-4a25-afb8-e66ca29a5791", start: 111, length: 38 },
      { uuid: "7da529dc-9eb7-43bd-9a68-08752824a4e5", start: 31, length: 38 },
      { uuid: "b0293cf1-7c27-4c79-b648-f4589ff172ce", start: 194, length: 5 },
    ],
  },
  {
    session: "entireio-cli__fdd24234.jsonl",
    question: "The user could not find the filter for short lines. Where is it?",
    answers: [{ uuid: "04166d26-559e-4913-93d1-e3c1ae458f0e", start: 48, length: 55 }],
  },
  {
    session: "entireio-cli__fdd24234.jsonl",
    question: "What is the command for running the tests with a real Claude?",
    answers: [
      { uuid: "ac991831-1c93-44ef-9890-157f5837969f", start: 3530, length: 69 },
      { uuid: "3c325805-5d85-4327-a136-0c2c735c5a92", start: 1755, length: 39 },
      { uuid: "5091f4da-fc01-4b71-875a-b0bc43a4be0a", start: 723, length: 9 },
    ],
  },
];
