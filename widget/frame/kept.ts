import { newSecret } from './random.ts'
import type { Outgoing } from './types.ts'

/**
 * The data that the chat stores in the browser. Nothing is stored before the visitor writes or dismisses the notice.
 */
export type StoredChat = {
  /** Returns the visitor's secret, or null if they have never written. */
  secret(): string | null
  /** Returns the visitor's secret, and creates one if there is none. */
  requireSecret(): string
  /** Returns the site's id of the visitor if the site has signed them in. */
  userId(): string | null
  setUserId(userId: string | null): void
  /** Forgets the visitor, because somebody else is using the browser from now on. */
  forget(): void
  conversationId(): string | null
  setConversationId(id: string | null): void
  dismissedNotice(): string | null
  dismissNotice(text: string): void
  /** Returns this tab's message that the service has not confirmed yet. */
  outgoing(): Outgoing | null
  setOutgoing(message: Outgoing | null): void
}

/** What is undefined is not stored. */
type Lasting = {
  secret?: string | undefined
  userId?: string | undefined
  conversationId?: string | undefined
  dismissedNotice?: string
}

export function createKept(agentId: string): StoredChat {
  const lasting = createPlace<Lasting>(() => localStorage, `parley:${agentId}`)
  const ofTab = createPlace<{ outgoing?: Outgoing | undefined }>(() => sessionStorage, `parley:${agentId}`)
  return {
    secret: () => lasting.read().secret ?? null,
    requireSecret() {
      const secret = lasting.read().secret ?? newSecret()
      lasting.change({ secret })
      return secret
    },
    userId: () => lasting.read().userId ?? null,
    setUserId: (userId) => lasting.change({ userId: userId ?? undefined }),
    forget() {
      lasting.change({ secret: undefined, userId: undefined, conversationId: undefined })
      ofTab.change({ outgoing: undefined })
    },
    conversationId: () => lasting.read().conversationId ?? null,
    setConversationId: (id) => lasting.change({ conversationId: id ?? undefined }),
    dismissedNotice: () => lasting.read().dismissedNotice ?? null,
    dismissNotice: (dismissedNotice) => lasting.change({ dismissedNotice }),
    outgoing: () => ofTab.read().outgoing ?? null,
    setOutgoing: (outgoing) => ofTab.change({ outgoing: outgoing ?? undefined }),
  }
}

/** Creates an entry in the browser's storage, or in memory if storage is not available. Other tabs write to it too. */
function createPlace<T extends object>(storage: () => Storage, name: string) {
  let memory = {} as T
  const read = (): T => {
    try {
      const text = storage().getItem(name)
      if (text !== null) memory = JSON.parse(text)
    } catch {
      // The last known value is still in memory.
    }
    return memory
  }
  return {
    read,
    change(change: Partial<T>) {
      memory = { ...read(), ...change }
      try {
        storage().setItem(name, JSON.stringify(memory))
      } catch {
        // The value is still in memory.
      }
    },
  }
}
