import type { TypedPeople } from './recipients.tsx'

type Mode = 'reply' | 'note'
/** A file that was uploaded for the reply. */
export type Attached = { id: string; name: string; size: number }
/**
 * `people` are those of a mail, if others than all were chosen; `heldAnswerId` is the note of a held answer that the
 * text began with.
 */
export type Draft = {
  mode: Mode
  text: string
  files?: Attached[]
  people?: TypedPeople | null
  heldAnswerId?: string | undefined
}

const keyOf = (agentId: string, ticketNumber: number): string => `parley:draft:${agentId}:${ticketNumber}`

/** Drafts are kept until the tab is closed, so that looking at another ticket loses nothing. */
export function readDraft(agentId: string, ticketNumber: number): Draft {
  const kept = sessionStorage.getItem(keyOf(agentId, ticketNumber))
  return kept ? JSON.parse(kept) : { mode: 'reply', text: '' }
}

export function keepDraft(agentId: string, ticketNumber: number, draft: Draft): void {
  const key = keyOf(agentId, ticketNumber)
  if (draft.text === '' && !draft.files?.length) sessionStorage.removeItem(key)
  else sessionStorage.setItem(key, JSON.stringify(draft))
}
