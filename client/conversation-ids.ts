/** The part of localStorage that is used. An application may provide its own store instead. */
export type KeptStrings = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Maps the chats of a page to their conversations, and survives reloads. */
export type ConversationIds = {
  get(chatId: string): string | undefined
  set(chatId: string, conversationId: string): void
  delete(chatId: string): void
}

const keyOf = (chatId: string): string => `parley:conversation:${chatId}`

/**
 * Browsers throw on access to storage in private windows, when cookies are disabled and when it is full. The ids are
 * then kept in memory only.
 */
export function createConversationIds(storage: KeptStrings | undefined = pageStorage()): ConversationIds {
  const memory = new Map<string, string>()
  return {
    get: (chatId) =>
      memory.get(chatId) ?? attempt(() => storage?.getItem(keyOf(chatId)) ?? undefined) ?? undefined,
    set(chatId, conversationId) {
      if (memory.get(chatId) === conversationId) return
      memory.set(chatId, conversationId)
      attempt(() => storage?.setItem(keyOf(chatId), conversationId))
    },
    delete(chatId) {
      memory.delete(chatId)
      attempt(() => storage?.removeItem(keyOf(chatId)))
    },
  }
}

const pageStorage = (): KeptStrings | undefined =>
  attempt(() => ('document' in globalThis ? globalThis.localStorage : undefined))

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
