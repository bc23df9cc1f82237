import type { Beside, PromptParts } from '../server/conversations/prompt/build-prompt.ts'

/** What a prompt is built of for a question to an agent with documents, tools and a team. */
export const promptParts = (
  question: string,
  beside: Partial<Beside> = {},
  more: Partial<PromptParts> = {},
): PromptParts => ({
  rules: {
    instructions: '',
    channelInstructions: null,
    format: '',
    procedures: null,
    hasTools: true,
    offersPerson: true,
    hasDocuments: true,
  },
  beside: { company: [], customer: null, passages: [], images: [], ...beside },
  key: '0123456789ab',
  earlier: [],
  transcript: [{ role: 'user', parts: [{ type: 'text', text: question }] }],
  model: { id: 'a', contextTokens: 8_000 },
  ...more,
})
