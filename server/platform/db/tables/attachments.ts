import type { AccountId, Time } from './columns.ts'

/** `isPartOfMail`: a picture that the mail shows, or its signature, which is not named in the text. */
export type AttachmentNote = { id: string; name: string; type: string; size: number; isPartOfMail?: true }

export type AttachmentsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string | null
  ticket_id: string | null
  name: string
  media_type: string
  size: number
  path: string
  /** The external sender, as a hash or a thread. */
  sender: string | null
  created_at: Time
}
