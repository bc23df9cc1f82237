/** The colour and the label of each status of a conversation. */
export const STATUS_TONES = {
  ongoing: ['neutral', 'Open'],
  ended: ['neutral', 'Ended'],
  taken_over: ['warning', 'With a person'],
  paused: ['info', 'Paused'],
} as const
