/** Whether the chat was open on the page before, or was closed already, in this visit of the site. */
export function createVisit(agentId: string) {
  const name = `parley-panel:${agentId}`
  let state: string | null = null
  try {
    state = sessionStorage.getItem(name)
  } catch {
    // A browser that keeps nothing begins anew on every page.
  }
  return {
    wasOpen: () => state === 'open',
    wasUsed: () => state !== null,
    remember(isOpen: boolean) {
      state = isOpen ? 'open' : 'closed'
      try {
        sessionStorage.setItem(name, state)
      } catch {
        // As above.
      }
    },
  }
}
