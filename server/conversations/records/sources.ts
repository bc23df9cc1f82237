/** As conversations.source (contract, section 4, "Sources of conversations"): what the chat on a website begins. */
export const WIDGET = 'Widget or Iframe'
