import type { NaturalQuestion } from "./natural-question.ts";

/** Questions about two sessions of oh-my-posh. */
export const OH_MY_POSH_QUESTIONS: readonly NaturalQuestion[] = [
  {
    session: "oh-my-posh__e0a6db83.jsonl",
    question: "Why does a narrow segment collapse to the last color of its gradient and not to the first?",
    answers: [
      { uuid: "850a00fa-020e-401d-81f1-55a6d92f6aca", start: 316, length: 59 },
      { uuid: "2f326c0a-6b9d-474e-987b-f4c61fd7e419", start: 348, length: 85 },
      { uuid: "060623a1-720a-47ac-b900-be2d8d27714a", start: 944, length: 33 },
    ],
  },
  {
    session: "oh-my-posh__e0a6db83.jsonl",
    question: "How many cells does a gradient need at least?",
    answers: [
      { uuid: "850a00fa-020e-401d-81f1-55a6d92f6aca", start: 100, length: 53 },
      { uuid: "2f326c0a-6b9d-474e-987b-f4c61fd7e419", start: 95, length: 53 },
      { uuid: "b289aeec-b1d9-41d1-bbd6-ce6535f00909", start: 65, length: 41 },
      { uuid: "060623a1-720a-47ac-b900-be2d8d27714a", start: 859, length: 17 },
      { uuid: "6933aafb-e70d-4ab5-94cf-80cb0b96bbdf", start: 1199, length: 23 },
      { uuid: "1269eca0-5c3b-4773-aca7-dc06d2d899bd", start: 1645, length: 27 },
      { uuid: "727a9518-3d19-434c-86bd-634a6d2b0ae9", start: 3101, length: 27 },
    ],
  },
  {
    session: "oh-my-posh__e0a6db83.jsonl",
    question: "Why was the start arrow of a gradient segment wrong while the end arrow was right?",
    answers: [
      { uuid: "4d1bb32c-38cd-429c-b17c-0bd08f056e2b", start: 517, length: 41 },
      { uuid: "e4b66267-e9f4-4233-afe3-d64ae284b1dd", start: 135, length: 55 },
    ],
  },
  {
    session: "oh-my-posh__e0a6db83.jsonl",
    question: "Which model should implement the gradient feature?",
    answers: [
      { uuid: "4b403341-59b1-47f0-87c1-fd9486664ba5", start: 18, length: 28 },
      { uuid: "7cfd0436-0371-4391-9366-7cf75345257c", start: 13, length: 40 },
      { uuid: "d95d4a4b-ceb1-4406-8840-ed03e4167b87", start: 85, length: 16 },
      { uuid: "cbc79123-bcb6-49cd-a458-a7a0a2a208aa", start: 86, length: 16 },
      { uuid: "5ef0a0cc-3f8b-42a0-acea-a293c2fe699a", start: 90, length: 16 },
      { uuid: "a6ce5c99-409c-43c2-ad9f-5af364b5ff51", start: 83, length: 16 },
      { uuid: "727a9518-3d19-434c-86bd-634a6d2b0ae9", start: 83, length: 16 },
      { uuid: "15a49d0a-4573-47f9-a805-c3dce1777c7e", start: 49, length: 20 },
      { uuid: "ffee5137-5aed-4ca7-8186-fc76c85be21c", start: 0, length: 23 },
      { uuid: "9395e1df-8f64-4bed-9b78-2355960f4117", start: 26, length: 22 },
      { uuid: "1ef6b4cd-1b43-46c1-90f9-09f29cccb29b", start: 34, length: 22 },
      { uuid: "850a00fa-020e-401d-81f1-55a6d92f6aca", start: 42, length: 24 },
      { uuid: "2f326c0a-6b9d-474e-987b-f4c61fd7e419", start: 0, length: 23 },
      { uuid: "d00c56bc-38b6-4671-8621-52003dfab2aa", start: 352, length: 24 },
    ],
  },
  {
    session: "oh-my-posh__e0a6db83.jsonl",
    question: "On which color palette should my prompt config be based?",
    answers: [
      { uuid: "d00c56bc-38b6-4671-8621-52003dfab2aa", start: 63, length: 43 },
      { uuid: "6933aafb-e70d-4ab5-94cf-80cb0b96bbdf", start: 556, length: 26 },
      { uuid: "524311ba-48f4-4313-9732-1cf4ed21c1dc", start: 783, length: 34 },
      { uuid: "88f4c17d-46f1-469b-af12-93740539a4ad", start: 152, length: 45 },
      { uuid: "67d60d9c-5447-4ca6-bfab-c1bb7a677e22", start: 653, length: 35 },
      { uuid: "1fce99fe-4991-47ce-af43-5bb3ffebca2c", start: 616, length: 18 },
    ],
  },
  {
    session: "oh-my-posh__e0a6db83.jsonl",
    question: "Why is chaining with parentBackground better than explicit start and end colors?",
    answers: [
      { uuid: "6933aafb-e70d-4ab5-94cf-80cb0b96bbdf", start: 752, length: 67 },
      { uuid: "524311ba-48f4-4313-9732-1cf4ed21c1dc", start: 1575, length: 45 },
    ],
  },
  {
    session: "oh-my-posh__e0a6db83.jsonl",
    question: "Which typo did the gradient logging find in my config?",
    answers: [
      { uuid: "79a1c97e-0bb1-4abf-ae36-e30f51e0425d", start: 875, length: 43 },
      { uuid: "3a17f737-9fa8-452b-bdd6-f334f3f0ea1b", start: 1358, length: 43 },
      { uuid: "33595c6f-5b0f-4c61-93fd-04c94379735f", start: 164, length: 8 },
      { uuid: "524311ba-48f4-4313-9732-1cf4ed21c1dc", start: 3942, length: 19 },
    ],
  },
  {
    session: "oh-my-posh__e0a6db83.jsonl",
    question: "What caused the white wedge in front of the path?",
    answers: [
      { uuid: "3138252d-4bc0-49f1-8a8c-7b4a1cab9d3a", start: 360, length: 48 },
      { uuid: "6f4ea905-7e0c-45e6-a241-176fac932c0d", start: 115, length: 52 },
    ],
  },
  {
    session: "oh-my-posh__e0a6db83.jsonl",
    question: "Which of the battery options did the user pick, and where else should it apply?",
    answers: [
      { uuid: "e9efe3ee-69bb-40a5-9c9f-8c3662777250", start: 0, length: 59 },
      { uuid: "3d601b8f-c296-4d86-ab85-6bfcf67417fb", start: 152, length: 34 },
    ],
  },
  {
    session: "oh-my-posh__e0a6db83.jsonl",
    question: "Why did the secondary prompt get no gradient?",
    answers: [
      { uuid: "a442d808-ca6c-4f65-b2fc-fd9928943495", start: 558, length: 57 },
      { uuid: "ae89b393-072a-4a03-b246-1824add3856b", start: 319, length: 49 },
    ],
  },
  {
    session: "oh-my-posh__e0a6db83.jsonl",
    question: "Which branch holds the gradient feature?",
    answers: [
      { uuid: "3302fe7f-b22c-4adc-a4f9-461b47d015bb", start: 6, length: 48 },
      { uuid: "35de3d07-33ac-4b7b-8b98-a2e822f92aac", start: 58, length: 31 },
      { uuid: "dc98edf3-2946-44c4-bff2-f5315232f94e", start: 362, length: 20 },
      { uuid: "f2c93994-c720-4890-a377-a1f262e45648", start: 120, length: 20 },
      { uuid: "4d4ef047-5b46-4465-9392-5aac032cb775", start: 1, length: 20 },
      { uuid: "2958166a-6438-4db7-9345-1d2ce69138bf", start: 67, length: 20 },
      { uuid: "db3a5fe1-9784-4fa6-994f-03ff7a55dc71", start: 1, length: 20 },
      { uuid: "7947221e-7149-4a4b-a654-8f569524a005", start: 15, length: 20 },
      { uuid: "6671638d-83be-4a89-b0c1-83bc2132eeb3", start: 230, length: 20 },
      { uuid: "727a9518-3d19-434c-86bd-634a6d2b0ae9", start: 244, length: 20 },
      { uuid: "524311ba-48f4-4313-9732-1cf4ed21c1dc", start: 1038, length: 20 },
      { uuid: "1269eca0-5c3b-4773-aca7-dc06d2d899bd", start: 770, length: 20 },
      { uuid: "ce805de9-1652-46c6-b4b0-ba16c1cf1c5b", start: 1, length: 20 },
      { uuid: "d287d506-fa43-4b32-b158-b7cc6f1a4cf8", start: 5, length: 20 },
      { uuid: "a9b408ce-5d1f-4646-a4b4-0b35d9c6e1c2", start: 63, length: 20 },
    ],
  },
  {
    session: "oh-my-posh__e0a6db83.jsonl",
    question: "In which docs page are the supported gradient stops listed?",
    answers: [
      { uuid: "2121fcf2-42ed-4509-9620-c3345df300fb", start: 6, length: 27 },
      { uuid: "0c9d0852-a572-45ae-8285-3debae89b23b", start: 2203, length: 53 },
      { uuid: "50cd99b1-7179-4414-b7ad-a175ee6257ba", start: 20, length: 37 },
      { uuid: "17c3de9b-90c5-4c09-b784-d880fa56f9f8", start: 50, length: 40 },
      { uuid: "5521eedf-6edc-42cd-bc92-ae307dbcfeb8", start: 50, length: 40 },
      { uuid: "e216203c-2867-4465-b777-7346f356c217", start: 50, length: 40 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "Which design direction does the user prefer, and what should be taken from direction B?",
    answers: [
      { uuid: "cffee3cf-7364-408d-a8d2-b6ea73669b1c", start: 175, length: 54 },
      { uuid: "a2e22e6c-25b6-4a13-8787-ab1f555f3bf0", start: 1780, length: 68 },
      { uuid: "a85d456f-8ca2-45ff-b385-c41a3dfe9c60", start: 209, length: 52 },
      { uuid: "c126f06a-6ba0-4eaa-a75b-0b1bcd04600e", start: 511, length: 54 },
      { uuid: "8f853cee-b7f9-4de4-af5f-49a479bc597a", start: 98, length: 52 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "What does the user dislike about the home page?",
    answers: [
      { uuid: "8284643f-1967-4815-a3cf-020d1990755a", start: 344, length: 48 },
      { uuid: "605ce026-0ae6-47d3-b9c0-6c5238a0a266", start: 249, length: 36 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "Which model should review the plans instead of Fable?",
    answers: [
      { uuid: "01b6edf5-51b8-4c57-a277-9bc0a123d3b7", start: 0, length: 36 },
      { uuid: "f8c23f04-52e4-46df-9281-09eb8899f5fb", start: 80, length: 14 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "Why do we need no JSON output besides the SVG?",
    answers: [
      { uuid: "d93bf5a8-ec80-47a8-b2d5-2713d8748b0a", start: 32, length: 41 },
      { uuid: "94e1fe09-9176-4d23-b6a2-f4dddac760ae", start: 99, length: 41 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "Why is the output of so many themes not deterministic?",
    answers: [
      { uuid: "1c889dc7-7cd0-4bef-a9ea-fb68bad5f1c3", start: 63, length: 32 },
      { uuid: "56ce898d-fa26-4819-a3cd-5c956b54a32e", start: 420, length: 58 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "Why does a pinned time segment disappear from the prompt?",
    answers: [
      { uuid: "c10c7376-2310-44b5-931e-737625882040", start: 260, length: 71 },
      { uuid: "56ce898d-fa26-4819-a3cd-5c956b54a32e", start: 871, length: 69 },
      { uuid: "d19360de-d5ed-4659-9f6a-a4ef081e717e", start: 548, length: 72 },
      { uuid: "fea2a24d-b218-4860-ab0e-ec19762ea260", start: 1657, length: 72 },
      { uuid: "6d076348-b7dc-4ca5-bf53-8c550d2c093f", start: 1854, length: 69 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "How did the user's email address get past the sanitizer?",
    answers: [
      { uuid: "30d0a006-d1aa-4676-baa9-819c9c058cc4", start: 197, length: 38 },
      { uuid: "09936a58-fa0e-4bb9-9f99-667191270981", start: 84, length: 73 },
      { uuid: "b6741f18-8665-4b61-81da-67e906846da7", start: 612, length: 35 },
      { uuid: "af74e11d-3a74-42b8-ade2-fcda3b285463", start: 84, length: 44 },
      { uuid: "87d2e0e8-2ced-4aee-8563-009315d5038f", start: 737, length: 48 },
      { uuid: "b6dfeb10-8f75-49b0-a256-1c1915954c8e", start: 914, length: 61 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "Why is the catalog guard a Go test and not part of the website build?",
    answers: [
      { uuid: "f90b98f6-5022-4e65-ac31-6caa302f0370", start: 391, length: 63 },
      { uuid: "79b199db-7bac-4ba2-bbf3-c9c67154abe1", start: 1502, length: 57 },
      { uuid: "d6ac4f11-db74-419a-b4f3-201ea783d715", start: 972, length: 55 },
      { uuid: "275b2389-499c-400c-b361-257cd710caf9", start: 4172, length: 31 },
      { uuid: "27704af8-bf80-43c6-8dab-87f601eb9512", start: 3181, length: 27 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "How many segments really need a Nerd Font?",
    answers: [
      { uuid: "f90b98f6-5022-4e65-ac31-6caa302f0370", start: 10, length: 69 },
      { uuid: "79b199db-7bac-4ba2-bbf3-c9c67154abe1", start: 279, length: 54 },
      { uuid: "9774b940-7aca-4953-ba4d-a5a733147d4e", start: 1794, length: 38 },
      { uuid: "275b2389-499c-400c-b361-257cd710caf9", start: 1194, length: 57 },
      { uuid: "2e96d3f0-3c1f-427d-afec-cc4090f94ab3", start: 24, length: 25 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "How many segments need authentication, after the correction?",
    answers: [
      { uuid: "65926edc-0c55-40ed-8902-2fdf4ff58710", start: 483, length: 21 },
      { uuid: "bbb89475-8d0e-481c-97ff-7472531ae5c2", start: 8857, length: 36 },
      { uuid: "046f187f-84b7-46a9-b584-6e25d72cf4f4", start: 1176, length: 40 },
      { uuid: "275b2389-499c-400c-b361-257cd710caf9", start: 1334, length: 40 },
      { uuid: "27704af8-bf80-43c6-8dab-87f601eb9512", start: 13729, length: 45 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "Which exit code does a failed image export return now?",
    answers: [
      { uuid: "ddfe5a10-6199-45a2-a8f6-eabe2679715a", start: 50, length: 27 },
      { uuid: "b1729072-d420-4155-aa80-1aa766a4192e", start: 8, length: 21 },
      { uuid: "d3fa98be-fa72-4a42-92cb-fb15bf36fb54", start: 1133, length: 21 },
      { uuid: "441734e4-251e-4a0f-9190-49de76532309", start: 296, length: 8 },
      { uuid: "7ad1f552-f4e6-4692-9f01-33bb9c4af158", start: 89, length: 8 },
      { uuid: "cadf8322-1941-455d-9161-ce7fdd0b14e8", start: 63, length: 8 },
      { uuid: "e5c89bbc-da4b-489e-a7b4-402b982deeb6", start: 150, length: 12 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "What did we decide about golden files for all 124 themes?",
    answers: [
      { uuid: "15daca9b-02a8-4174-ae01-ace24fb4ee03", start: 189, length: 71 },
      { uuid: "66ef9fab-950b-422e-9426-427e6b4c7ade", start: 442, length: 74 },
      { uuid: "57b2bfce-5d28-43fd-a06a-79ab5f4fa59d", start: 955, length: 43 },
      { uuid: "fc1f709c-cfb1-45f4-893f-d15bcf1bcd89", start: 390, length: 46 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "Why was my result that all themes replay deterministically an artifact?",
    answers: [
      { uuid: "64031abd-b3e2-4218-a96a-758a0339d0c0", start: 728, length: 99 },
      { uuid: "5b57bf70-21e7-4b5c-80a2-e60675b3ee67", start: 431, length: 48 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "What does one unclosed link in a template do to later prompts?",
    answers: [
      { uuid: "5b57bf70-21e7-4b5c-80a2-e60675b3ee67", start: 1667, length: 88 },
      { uuid: "9727a7be-47a6-41cd-97cf-488cbdd1773b", start: 277, length: 67 },
      { uuid: "f0958fc5-fa1f-4924-bda6-24c281b5b1dd", start: 371, length: 25 },
      { uuid: "56ce898d-fa26-4819-a3cd-5c956b54a32e", start: 2916, length: 57 },
      { uuid: "d19360de-d5ed-4659-9f6a-a4ef081e717e", start: 9120, length: 48 },
      { uuid: "fea2a24d-b218-4860-ab0e-ec19762ea260", start: 14854, length: 31 },
      { uuid: "cb794a4e-1db8-46bd-9199-6d630740e9b1", start: 6269, length: 54 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "Where is my personal prompt configuration that I may use for testing the renderer?",
    answers: [
      { uuid: "05c7193c-ed59-41e3-ac6d-a452277225c2", start: 103, length: 49 },
      { uuid: "48379488-2e15-4772-8d2a-af68d2fe6ebb", start: 44, length: 30 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "Why should the SVG encoder not be hidden behind a build tag?",
    answers: [
      { uuid: "3473627f-005d-4887-9c05-f17150984588", start: 883, length: 58 },
      { uuid: "a85d456f-8ca2-45ff-b385-c41a3dfe9c60", start: 1329, length: 48 },
      { uuid: "8f853cee-b7f9-4de4-af5f-49a479bc597a", start: 1388, length: 30 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "Which line of the writer throws the semantic color away?",
    answers: [
      { uuid: "cb794a4e-1db8-46bd-9199-6d630740e9b1", start: 9880, length: 64 },
      { uuid: "5b57bf70-21e7-4b5c-80a2-e60675b3ee67", start: 573, length: 47 },
      { uuid: "56ce898d-fa26-4819-a3cd-5c956b54a32e", start: 1762, length: 47 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "How much faster does the chips theme replay now?",
    answers: [
      { uuid: "4e18668a-1e6a-413f-8480-48364fe09a2c", start: 0, length: 23 },
      { uuid: "db624ecf-e34d-44d6-8010-802cf363f980", start: 443, length: 38 },
      { uuid: "66ef9fab-950b-422e-9426-427e6b4c7ade", start: 150, length: 37 },
      { uuid: "f9e95c24-8bc2-47e8-8bc9-fe6b6e447fae", start: 46, length: 18 },
      { uuid: "b6741f18-8665-4b61-81da-67e906846da7", start: 161, length: 19 },
      { uuid: "d3fa98be-fa72-4a42-92cb-fb15bf36fb54", start: 138, length: 19 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "Should the image rendering logic be part of the artifacts we ship?",
    answers: [
      { uuid: "d4a8fe9d-20ce-4d18-bb23-355034647974", start: 159, length: 74 },
      { uuid: "3473627f-005d-4887-9c05-f17150984588", start: 839, length: 41 },
    ],
  },
  {
    session: "oh-my-posh__6c0a282a.jsonl",
    question: "What did the user ask to keep when the conversation was compacted?",
    answers: [{ uuid: "97a499eb-42ee-43f4-8fbe-fdd081df97df", start: 119, length: 49 }],
  },
];
