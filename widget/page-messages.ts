/** The messages from the chat in the iframe to the script on the embedding page. */
export type FrameMessage =
  | { parley: 'ready' }
  /** The iframe shows an error page instead of the chat. */
  | { parley: 'problem' }
  | { parley: 'close' }
  /** Whether there are messages that arrived while the panel was closed and have not been seen. */
  | { parley: 'unread'; unread: boolean }
  /** Asks the page to run a client action. `id` is the service's id of the call. */
  | { parley: 'call'; id: string; name: string; input: unknown }

/** The messages from the script to the chat. The first one also reveals the origin of the embedding page. */
export type PageMessage =
  | {
      parley: 'shown'
      isShown: boolean
      takeFocus: boolean
      /** Whether the panel covers the page. */
      isPhone: boolean
      /** The language that the root element of the page declares; may be empty. */
      language: string
      /** The signed token of the visitor, or null if the site has not signed them in. */
      identity: string | null
      /** The URL of the page without query and fragment. */
      address: string
    }
  | { parley: 'result'; id: string; output: unknown }

export const isOurs = (data: unknown): data is { parley: string } =>
  typeof data === 'object' && data !== null && 'parley' in data && typeof data.parley === 'string'
