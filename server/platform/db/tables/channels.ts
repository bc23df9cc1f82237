import type { Generated } from 'kysely'
import type { MailAddress } from '../../mail/mail-address.ts'
import type { AttachmentNote } from './attachments.ts'
import type { AccountId, Json, OptionalTime, Time } from './columns.ts'

export type ChannelName = 'messaging' | 'email'

export type ChannelThreadsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  channel: ChannelName
  connection: string
  peer: string
  contact_id: string | null
  data: Json<Record<string, unknown>>
  last_inbound_at: OptionalTime
  opted_out_at: OptionalTime
  created_at: Time
}

export const SILENT_REASONS = [
  'automatic',
  'list',
  'old',
  'answered',
  'own',
  'noSender',
  'tooMany',
  'repetitive',
  'blocked',
] as const

export type SilentReason = (typeof SILENT_REASONS)[number]

/** The text that a person wrote on a channel; its attachments have already been stored. */
export type InboundContent = {
  text: string
  attachments: AttachmentNote[]
  /** Whether the agent never answers it: an automatic reply or a notice of the channel itself. */
  silent?: boolean
  /** Why nobody is told of a silent mail. Without it, a person of the team is asked. */
  silentBecause?: SilentReason
  /** Whether it looks like an automatic reply although it does not say so. */
  isRepetitive?: boolean
  /** The id of the answer whose offer it accepts, from the button below that answer. */
  accepts?: string
  /** Files that still have to be downloaded from the channel. */
  awaited?: AwaitedFile[]
  /** What the message refers to, such as a product or an advertisement, in a line each. */
  about?: string[]
  /** The channel's name of a type of message that the service cannot read; the team is asked to look at it. */
  unreadable?: string
  /** When the person has last changed or has deleted it, as ISO times. */
  editedAt?: string
  deletedAt?: string
  /** Of a mail: who wrote it and to whom. */
  mail?: ReceivedMail
}

/** `hasHtml`: what it looks like is kept in mail_originals. */
export type ReceivedMail = {
  from: MailAddress | null
  to: MailAddress[]
  cc: MailAddress[]
  hasHtml?: true
}

/** The recipients of a mail. Nobody but the team is shown `bcc`. */
export type MailPeople = { to: MailAddress[]; cc: MailAddress[]; bcc: MailAddress[] }

/** `id` is the channel's id of the file. */
export type AwaitedFile = { id: string; name: string; type: string }

export type InboundMessagesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  thread_id: string
  provider_message_id: string
  content: Json<InboundContent>
  sent_at: Time
  message_id: string | null
  taken_in_at: OptionalTime
  created_at: Time
}

export type MessagingNumber = { id: string; phone: string; verifiedName: string }

export type MessagingAccountsTable = {
  agent_id: string
  business_account_id: string
  account_id: AccountId
  access_token: string
  app_secret: string
  verify_token: string
  base_url: string | null
  position: number
  numbers: Json<MessagingNumber[] | null>
  numbers_read_at: OptionalTime
  error: string | null
  checked_at: OptionalTime
  updated_at: Time
}

export type MessagingPiecesTable = {
  delivery_id: string
  ordinal: number
  account_id: AccountId
  agent_id: string
  provider_message_id: string
  status: 'failed' | 'sent' | 'delivered' | 'read'
}

/** What was delivered and could not be read; see the migration. */
export type UnreadableEventsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  channel: 'messaging'
  kind: string
  reference: string
  detail: string | null
  is_message: boolean
  thread_id: string | null
  count: Generated<number>
  first_at: Time
  last_at: Time
}

type MailSecurity = 'tls' | 'starttls' | 'none'

export type MailServer = { host: string; port: number; security: MailSecurity; username: string | null }

/** How a mailbox gets tokens in place of a password. */
export type MailProvider = 'google' | 'microsoft'

export type MailOauth = {
  tokenUrl: string
  clientId: string
  scope: string | null
  /** Where members permit the access; unset if a refresh token was entered. */
  authorizationUrl?: string
  revocationUrl?: string
  /** Set if the client is the one that the operator has registered at this provider. */
  operatorsAt?: MailProvider
}

export type EmailConnectionsTable = {
  agent_id: string
  account_id: AccountId
  address: string
  from_name: string | null
  mode: 'agent' | 'tickets'
  plus_addressing: boolean
  smtp: Json<MailServer>
  smtp_password: string | null
  imap: Json<(MailServer & { mailbox: string }) | null>
  imap_password: string | null
  oauth: Json<MailOauth | null>
  oauth_client_secret: string | null
  oauth_refresh_token: string | null
  oauth_access_token: string | null
  oauth_expires_at: OptionalTime
  inbound_secret: string | null
  mark_key: string
  smtp_error: string | null
  smtp_checked_at: OptionalTime
  smtp_refusals: Generated<number>
  imap_error: string | null
  imap_checked_at: OptionalTime
  reads_from: Time
  /** Unsigned 32-bit integers, which one of the drivers returns as text. */
  uid_validity: string | number | null
  reader_since: OptionalTime
  last_uid: string | number | null
  /** The mail at which reading failed last, and how often in a row. */
  stuck_uid: string | number | null
  stuck_tries: Generated<number>
  next_read_at: Time
  read_failures: Generated<number>
  authority: string | null
  keeps_sent: Generated<boolean>
  sent_error: string | null
  lease_id: string | null
  lease_until: OptionalTime
  updated_at: Time
}

export type MailOriginalsTable = {
  inbound_message_id: string
  account_id: AccountId
  agent_id: string
  html: string
  pictures: Json<Record<string, string>>
  created_at: Time
}

export type EmailMessagesTable = {
  agent_id: string
  message_id: string
  body_hash: string
  account_id: AccountId
  thread_id: string | null
  created_at: Time
}
