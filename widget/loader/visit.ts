/**
 * Remembers during a visit to the site whether the chat was open on the previous page, and whether it has been opened
 * or closed at all.
 */
export function createVisit(agentId: string) {
  const name = `parley-panel:${agentId}`
  let state: string | null = null
  try {
    state = sessionStorage.getItem(name)
  } catch {
    // Without storage, every page starts anew.
  }
  return {
    wasOpen: () => state === 'open',
    wasUsed: () => state !== null,
    remember(isOpen: boolean) {
      state = isOpen ? 'open' : 'closed'
      try {
        sessionStorage.setItem(name, state)
      } catch {
        // Without storage, the state lasts only for this page.
      }
    },
  }
}
