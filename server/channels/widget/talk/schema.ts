import Type from 'typebox'
import { SuggestedMessage } from '../../../agents/settings/settings-schema.ts'
import { Styles } from '../../../agents/settings/styles-schema.ts'
import { conversationStatuses, MessageAttachment } from '../../../conversations/records/schema.ts'
import { CitedSource } from '../../../knowledge/search/answering/schema.ts'
import { EpochSeconds, Exact, Nullable, OneOf } from '../../../platform/http/contract.ts'

const stageFields = Styles.properties.centerStage.properties

/** The size limit of one file that a visitor sends, in bytes. */
export const MAX_UPLOAD_BYTES = 10 * 1024 * 1024
/** The length limit of one message of a visitor. */
export const MAX_MESSAGE_LENGTH = 8_000
/** The most files with one message of a visitor. */
export const MAX_FILES = 5

export const leadFields = ['name', 'email', 'phone'] as const

/** What a visitor's browser needs to render an agent's chat. */
export const Appearance = Exact({
  id: Type.String(),
  name: Type.String({ description: 'styles.chat.displayName, else the name of the agent' }),
  chat: Styles.properties.chat,
  /** null: the chat is in a corner of the page. */
  stage: Nullable(
    Exact({
      welcomeMessage: stageFields.welcomeMessage,
      showChatBubble: stageFields.showChatBubble,
      showDataSource: stageFields.showDataSource,
      tintedGrayscale: Type.Required(stageFields.tintedGrayscale),
      accentColor: Type.Required(stageFields.accentColor),
      customSurfaceColors: Type.Required(stageFields.customSurfaceColors),
      typography: Type.Required(stageFields.typography),
    }),
  ),
  initialMessages: Type.Array(Type.String()),
  linkHosts: Type.Array(Type.String(), {
    description:
      "Hosts of the owner's sites, to which the agent's messages may link in addition to cited sources",
  }),
  suggestedMessages: Nullable(Type.Array(SuggestedMessage)),
  pictures: Exact({
    icon: Nullable(Type.String({ description: 'Path on this server' })),
    profile: Nullable(Type.String({ description: 'Path on this server' })),
  }),
  /** null: the agent has no enabled collect-leads action for the widget. */
  leadForm: Nullable(Exact({ fields: Type.Array(OneOf(leadFields)) })),
  /** null: the owner has switched off the notice that an AI system answers. */
  aiNotice: Nullable(
    Exact({ text: Nullable(Type.String({ description: "null: a sentence in the visitor's language" })) }),
  ),
  mayEscalate: Type.Boolean({ description: 'Whether the visitor can ask for a person (…/person)' }),
  takesIdentity: Type.Boolean({ description: 'Whether the site can sign in its visitors (…/identity)' }),
  longestMessage: Type.Integer({ description: 'In characters' }),
  limitMessage: Nullable(
    Type.String({
      description:
        "What a visitor reads at the limit of messages; null: a sentence in the visitor's language",
    }),
  ),
  /** null: the agent accepts no files from visitors. */
  uploads: Nullable(Exact({ maxFiles: Type.Integer(), maxBytes: Type.Integer() })),
  /** null: there is no voice mode. Speech recognition and synthesis run in the browser. */
  voice: Nullable(
    Exact({
      language: Nullable(
        Type.String({ description: 'A BCP 47 tag, from voiceSettings.transcriber.language' }),
      ),
      speed: Type.Number(),
      initialMessage: Nullable(Type.String()),
      errorMessage: Nullable(Type.String()),
    }),
  ),
})

/** A visitor sees only those calls of the agent's actions that the page has to run itself. */
export const VisibleMessage = Exact({
  id: Type.String(),
  role: OneOf(['user', 'assistant']),
  text: Type.String(),
  createdAt: EpochSeconds,
  feedback: Nullable(OneOf(['positive', 'negative'])),
  sources: Type.Array(CitedSource),
  attachments: Type.Array(MessageAttachment),
  author: Nullable(
    Type.String({ description: 'The team member who wrote it; null: the visitor or the agent' }),
  ),
  isSilent: Type.Boolean({
    description: 'Whether the answer ended without a word: the chat shows a sentence in its place',
  }),
  offer: Nullable(
    OneOf(['person'], {
      description: 'The answer offers a person; a message with `accepts` takes the offer',
    }),
  ),
  pendingCalls: Type.Array(
    Exact({ toolCallId: Type.String(), toolName: Type.String(), input: Type.Unknown() }),
    { description: 'Client actions whose result is awaited from the page' },
  ),
})

/** What a visitor who asked for a person is told. */
export const Help = Exact({
  state: OneOf(['waiting', 'taken_over']),
  name: Nullable(Type.String({ description: 'The person who has taken over' })),
  isStaffed: Type.Boolean({ description: 'Whether a team member is online or has taken over' }),
  opensAt: Nullable(
    Type.String({
      format: 'date-time',
      description: 'When the business hours begin again; null: now, or unknown',
    }),
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
  version: Type.String({ description: 'Changes whenever there is something new (…/events)' }),
  help: Nullable(Help),
  answering: Type.Boolean({ description: 'Whether the agent is answering: follow it with …/stream' }),
  messages: Type.Array(VisibleMessage, { description: 'The newest 100, oldest first' }),
})
