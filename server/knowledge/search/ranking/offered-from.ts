/** The lowest score with which a passage is offered as an answer. */
export const OFFERED_FROM = 0.15
