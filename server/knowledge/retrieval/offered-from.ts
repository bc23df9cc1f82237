/** Below it a passage is not offered as an answer. */
export const OFFERED_FROM = 0.15
