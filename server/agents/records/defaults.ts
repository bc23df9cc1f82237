import type { AiNotice } from '../../platform/db/tables/agents.ts'

/** The limit of messages from one address to the widget, with `timeframe` in seconds. */
export const DEFAULT_RATE_LIMITS = { limit: 20, timeframe: 240, message: 'Too many messages in a row' }

export const DEFAULT_AI_NOTICE: AiNotice = { enabled: true, text: null, place: 'before' }
