import Type from 'typebox'
import { SuggestedMessage } from '../agents/settings-schema.ts'
import { Styles } from '../agents/styles-schema.ts'
import { CitedSource, conversationStatuses } from '../conversations/schema.ts'
import { EpochSeconds, Exact, Nullable, OneOf } from '../http/contract.ts'

export const leadFields = ['name', 'email', 'phone'] as const

/** What a visitor's browser needs to draw the chat of an agent. */
export const Appearance = Exact({
  id: Type.String(),
  name: Type.String({ description: 'styles.chat.displayName, else the name of the agent' }),
  chat: Styles.properties.chat,
  initialMessages: Type.Array(Type.String()),
  linkHosts: Type.Array(Type.String(), {
    description: "Hosts of the owner's sites: what the agent writes may link to them and to what it cites",
  }),
  suggestedMessages: Nullable(Type.Array(SuggestedMessage)),
  pictures: Exact({
    icon: Nullable(Type.String({ description: 'Path on this server' })),
    profile: Nullable(Type.String({ description: 'Path on this server' })),
  }),
  /** null: the agent has no enabled collect-leads action for the widget. */
  leadForm: Nullable(Exact({ fields: Type.Array(OneOf(leadFields)) })),
  /** null: no voice mode. The browser itself hears and speaks. */
  voice: Nullable(
    Exact({
      language: Nullable(Type.String({ description: 'BCP 47, as voiceSettings.transcriber.language' })),
      speed: Type.Number(),
      initialMessage: Nullable(Type.String()),
      errorMessage: Nullable(Type.String()),
    }),
  ),
})

/** Of what the agent's actions did a visitor sees only the calls that the page has to run itself. */
export const VisibleMessage = Exact({
  id: Type.String(),
  role: OneOf(['user', 'assistant']),
  text: Type.String(),
  createdAt: EpochSeconds,
  feedback: Nullable(OneOf(['positive', 'negative'])),
  sources: Type.Array(CitedSource),
  author: Nullable(
    Type.String({ description: 'The person of the team who wrote it; null: the visitor or the agent' }),
  ),
  pendingCalls: Type.Array(
    Exact({ toolCallId: Type.String(), toolName: Type.String(), input: Type.Unknown() }),
    { description: 'Client actions whose result is awaited from the page' },
  ),
})

const summary = {
  id: Type.String(),
  title: Nullable(Type.String()),
  status: OneOf(conversationStatuses),
  createdAt: EpochSeconds,
  updatedAt: EpochSeconds,
}
export const ConversationSummary = Exact(summary)
export const VisibleConversation = Exact({
  ...summary,
  answering: Type.Boolean({ description: 'The agent is writing: follow it with …/stream' }),
  messages: Type.Array(VisibleMessage, { description: 'The newest 100, oldest first' }),
})
