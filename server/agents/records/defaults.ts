/** The limit of messages from one address to the widget, with `timeframe` in seconds (contract, section 4). */
export const DEFAULT_RATE_LIMITS = { limit: 20, timeframe: 240, message: 'Too many messages in a row' }
