/** As conversations.source (contract, section 4, "Sources of conversations"): what the chat on a website begins. */
export const WIDGET = 'Widget or Iframe'
/** What members of the team try out. Lists and figures of customers leave it out unless it is asked for by name. */
export const PLAYGROUND = 'Playground'
