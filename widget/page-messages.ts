/** What the chat in the iframe says to the script on the page that embeds it. */
export type FrameMessage =
  | { parley: 'ready' }
  /** There is a page that says why there is no chat. */
  | { parley: 'problem' }
  | { parley: 'close' }
  /** Something was said while the panel was closed, or has been seen by now. */
  | { parley: 'unread'; unread: boolean }
  /** Under the id that the service gave the call. */
  | { parley: 'call'; id: string; name: string; input: unknown }

/** What the script says to the chat; the first one also tells who embeds it. */
export type PageMessage =
  | {
      parley: 'shown'
      isShown: boolean
      takeFocus: boolean
      /** The panel covers the page. */
      isPhone: boolean
      /** That of the page, as its root element names it; may be empty. */
      language: string
      /** The signed token of the visitor; null: the site has not signed them in. */
      identity: string | null
      /** Where the page is, without query and fragment. */
      address: string
    }
  | { parley: 'result'; id: string; output: unknown }

export const isOurs = (data: unknown): data is { parley: string } =>
  typeof data === 'object' && data !== null && typeof (data as { parley?: unknown }).parley === 'string'
