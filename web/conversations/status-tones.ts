/** How a conversation stands, as a colour and in words. */
export const STATUS_TONES = {
  ongoing: ['neutral', 'Open'],
  ended: ['neutral', 'Ended'],
  taken_over: ['warning', 'With a person'],
  paused: ['info', 'Paused'],
} as const
