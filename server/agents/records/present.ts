import type { Static } from 'typebox'
import { defaultStyles } from '../settings/styles-schema.ts'
import { DEFAULT_AI_NOTICE } from './defaults.ts'
import type { DerivedRow, FullAgentRow } from './queries.ts'
import type { Agent } from './schema.ts'

/** Returns the status that follows from the sources. */
export function statusOf({ processing, failed, live }: DerivedRow): Static<typeof Agent>['status'] {
  if (processing > 0) return 'training'
  if (live === 0) return 'untrained'
  return failed > 0 ? 'failed' : 'trained'
}

const NO_NOTIFICATION = { active: false, emails: [] }

export function presentAgent(row: FullAgentRow): Static<typeof Agent> {
  return {
    id: row.id,
    name: row.name,
    instructions: row.instructions,
    channelInstructions: row.channel_instructions as Static<typeof Agent>['channelInstructions'],
    model: row.model,
    temp: row.temp,
    visibility: row.visibility,
    allowedDomains: row.allowed_domains,
    suggestedMessages: row.suggested_messages as Static<typeof Agent>['suggestedMessages'],
    initialMessages: row.initial_messages,
    creditLimit: row.credit_limit,
    notificationsSettings: row.notifications_settings && {
      dailyLeadsCollected: NO_NOTIFICATION,
      dailyConversations: NO_NOTIFICATION,
      ...row.notifications_settings,
    },
    spamSettings: row.spam_settings as Static<typeof Agent>['spamSettings'],
    blockedCountries: row.blocked_countries,
    voiceSettings: row.voice_settings,
    ipRateLimits: row.ip_rate_limits,
    aiNotice: row.ai_notice ?? DEFAULT_AI_NOTICE,
    autoRetrain: row.auto_retrain,
    creditsUsed: row.credits_used,
    // Settings that were stored before a field existed have its default.
    styles: {
      chat: { ...defaultStyles.chat, ...row.styles.chat },
      centerStage: { ...defaultStyles.centerStage, ...row.styles.centerStage },
    },
    createdAt: row.created_at.toISOString(),
    lastMessageAt: row.last_message_at?.toISOString() ?? null,
    lastTrainedAt: row.last_trained_at?.toISOString() ?? null,
    status: statusOf(row),
    size: row.size,
  }
}
