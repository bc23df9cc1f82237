import type { Static } from 'typebox'
import { offersAction } from '../../../actions/definitions/offers-action.ts'
import { DEFAULT_AI_NOTICE, DEFAULT_RATE_LIMITS } from '../../../agents/records/defaults.ts'
import type { AgentRow } from '../../../agents/records/find-agent.ts'
import { chatChannel } from '../../../agents/settings/chat-channel.ts'
import type { Db } from '../../../platform/db/database.ts'
import { identitySecretSince } from '../identity/identity-secret.ts'
import {
  type Appearance,
  leadFields,
  MAX_FILES,
  MAX_MESSAGE_LENGTH,
  MAX_UPLOAD_BYTES,
} from '../talk/schema.ts'
import { chatStyles, picturesOf, type StageStyles, shownName, stageStyles } from './widget-styles.ts'

/** Returns the appearance and the features of a public agent's chat. */
export async function appearanceOf(db: Db, agent: AgentRow): Promise<Static<typeof Appearance>> {
  const chat = chatStyles(agent)
  const stage = stageStyles(agent)
  const { enabled: hasNotice, text } = agent.ai_notice ?? DEFAULT_AI_NOTICE
  const { message: limitMessage } = agent.ip_rate_limits
  const [pictures, hasForm, mayEscalate, identitySince] = await Promise.all([
    picturesOf(db, agent),
    takesDetails(db, agent),
    offersVisitors(db, agent, 'escalate'),
    identitySecretSince(db, { accountId: agent.account_id, agentId: agent.id }),
  ])
  return {
    id: agent.id,
    name: shownName(agent),
    chat,
    stage: stage && shownStage(stage),
    linkHosts: (agent.allowed_domains ?? []).map(hostOf),
    // The chat in the middle of the page has its own greeting.
    initialMessages: stage ? [] : agent.initial_messages,
    suggestedMessages: (stage && stage.suggestedMessages.length > 0
      ? stage.suggestedMessages
      : agent.suggested_messages) as Static<typeof Appearance>['suggestedMessages'],
    pictures,
    leadForm: hasForm ? { fields: [...leadFields] } : null,
    aiNotice: hasNotice ? { text } : null,
    mayEscalate,
    takesIdentity: identitySince !== null,
    longestMessage: MAX_MESSAGE_LENGTH,
    limitMessage: limitMessage === DEFAULT_RATE_LIMITS.message ? null : limitMessage,
    uploads: chat.showAttachments ? { maxFiles: MAX_FILES, maxBytes: MAX_UPLOAD_BYTES } : null,
    voice: chat.showVoiceMode ? voiceOf(agent) : null,
  }
}

function shownStage({
  welcomeMessage,
  showChatBubble,
  showDataSource,
  tintedGrayscale,
  accentColor,
  customSurfaceColors,
  typography,
}: StageStyles): NonNullable<Static<typeof Appearance>['stage']> {
  return {
    welcomeMessage,
    showChatBubble,
    showDataSource,
    tintedGrayscale,
    accentColor,
    customSurfaceColors,
    typography,
  }
}

/** Returns the host of an allowed domain, which may have a wildcard for subdomains and a port. */
const hostOf = (domain: string): string => domain.replace(/^\*\.|:\d+$/g, '').toLowerCase()

/**
 * Returns whether the chat has the contact form, which depends on the agent's action for collecting leads on
 * websites.
 */
export const takesDetails = (db: Db, agent: AgentRow): Promise<boolean> =>
  offersVisitors(db, agent, 'collect-leads')

/** Returns whether the agent has an enabled action of that type for the chat on websites. */
export const offersVisitors = (
  db: Db,
  agent: AgentRow,
  type: 'collect-leads' | 'escalate',
): Promise<boolean> =>
  offersAction(db, { accountId: agent.account_id, agentId: agent.id }, chatChannel(agent), type)

type VoiceSettings = {
  voice?: { speed?: number }
  transcriber?: { language?: string }
  initialMessage?: string
  errorMessage?: string
}

function voiceOf({ voice_settings }: AgentRow): Static<typeof Appearance>['voice'] {
  if (voice_settings === null) return null
  const { voice, transcriber, initialMessage, errorMessage } = voice_settings as VoiceSettings
  return {
    language: transcriber?.language ?? null,
    speed: voice?.speed ?? 1,
    initialMessage: initialMessage ?? null,
    errorMessage: errorMessage ?? null,
  }
}
