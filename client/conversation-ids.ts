/** What is used of localStorage; a chat's own store may do it as well. */
export type KeptStrings = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Which conversation belongs to which chat of a page, over reloads. */
export type ConversationIds = {
  get(chatId: string): string | undefined
  set(chatId: string, conversationId: string): void
  delete(chatId: string): void
}

const keyOf = (chatId: string): string => `parley:conversation:${chatId}`

/** Browsers throw on storage in private windows, without cookies or when it is full: then memory has to do. */
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
