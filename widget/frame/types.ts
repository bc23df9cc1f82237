import type { Static } from 'typebox'
import type { SuggestedMessage } from '../../server/agents/settings/settings-schema.ts'
import type * as schema from '../../server/channels/widget/talk/schema.ts'
import type { ResponseOf } from './endpoints.ts'

/** The types of the API's responses, derived from its contract. */
export type Appearance = Static<typeof schema.Appearance>
export type Conversation = Static<typeof schema.VisibleConversation>
export type ConversationSummary = Static<typeof schema.ConversationSummary>
export type Message = Static<typeof schema.VisibleMessage>
export type Source = Message['sources'][number]
export type Attachment = Message['attachments'][number]
/** An uploaded file. Messages refer to it by its id. */
export type SentFile = ResponseOf<'/agents/{agentId}/attachments'>['data']
/** A stored message, and whether the agent answers it. */
export type SentMessage = ResponseOf<'/agents/{agentId}/messages'>['data']
export type Call = Message['pendingCalls'][number]
export type Feedback = Message['feedback']
export type LeadField = NonNullable<Appearance['leadForm']>['fields'][number]
export type Details = { [Name in LeadField]?: string }

export type Suggestion = Static<typeof SuggestedMessage>

/** A message that is being sent. Because of its id, the service stores it only once, however often it is sent. */
export type Outgoing = {
  messageId: string
  text: string
  files: SentFile[]
  isSpoken: boolean
  conversationId: string | null
  /** The id of the answer whose offer it accepts. */
  accepts?: string
}
