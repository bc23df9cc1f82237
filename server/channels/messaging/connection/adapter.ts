import type { IncomingHttpHeaders } from 'node:http'
import type { InboundContent, MessagingNumber } from '../../../db/tables/channels.ts'
import type { GuardedFetcher } from '../../../fetch/guard/guarded-fetcher.ts'

/** What is needed to speak to a business account's side of the channel; `baseUrl: null` is the public address. */
export type Access = { accessToken: string; baseUrl: string | null }

type TemplateComponent = {
  type: string
  format?: string
  text?: string
  buttons?: { type: string; text: string; url?: string }[]
}

export type ProviderTemplate = {
  id: string
  name: string
  language: string
  category: string
  status: string
  parameterFormat: string
  components: TemplateComponent[]
}

/** Values by their key, as the template names them. */
export type TemplateValues = { header: Record<string, string>; body: Record<string, string> }

/** The channel has the message; `recipient` is its own name for the person. */
export type Accepted = { messageId: string; recipient: string }

/** `callback` comes back with each status of the message. */
export type Addressed = { numberId: string; to: string; callback: string }

/** Calls to the channel; all of them throw ProviderFailure. */
export type ProviderClient = {
  numbers(businessAccountId: string): Promise<MessagingNumber[]>
  /** Of every status, all pages; with a name, at least those of this name. */
  templates(businessAccountId: string, name?: string): Promise<ProviderTemplate[]>
  sendText(addressed: Addressed, text: string): Promise<Accepted>
  sendFile(
    addressed: Addressed,
    file: { name: string; type: string; bytes: Uint8Array<ArrayBuffer> },
  ): Promise<Accepted>
  sendTemplate(addressed: Addressed, template: ProviderTemplate, values: TemplateValues): Promise<Accepted>
  /** A file that a person has sent; at most `maxBytes`. */
  fetchFile(numberId: string, fileId: string, maxBytes: number): Promise<Uint8Array>
}

export type MessageStatus = 'sent' | 'delivered' | 'read' | 'failed'

/** What a webhook tells, in the channel's order. */
export type WebhookEvent =
  | {
      kind: 'message'
      businessAccountId: string
      numberId: string
      /** The sender, as the channel names people. */
      from: string
      name: string | null
      messageId: string
      sentAt: Date
      content: InboundContent
      /** What was written, if nothing came with it: it may be a word that opts out. */
      words: string | null
    }
  | {
      kind: 'status'
      businessAccountId: string
      numberId: string
      messageId: string
      callback: string | null
      recipient: string | null
      status: MessageStatus
      reason: string | null
    }

/** One messaging channel's wire. */
export type Adapter = {
  /** Characters that one text message may have. */
  longestText: number
  /** Markdown in the channel's own way of marking; citation markers go unless a person wrote the text. */
  formatText(markdown: string, options: { dropCitations: boolean }): string
  client(settings: {
    fetcher: GuardedFetcher
    access: Access
    signal?: AbortSignal
    timeoutMs?: number
    /** Tries after the first one, of calls that only read. */
    retries?: number
  }): ProviderClient
  /** The question by which the channel finds out whose webhook this is; null for any other request. */
  readHandshake(query: Record<string, unknown>): { token: string; challenge: string } | null
  /** Whether the request names a signature at all. */
  claimsSignature(headers: IncomingHttpHeaders): boolean
  isSigned(headers: IncomingHttpHeaders, body: Uint8Array, secret: string): boolean
  /** Leaves out what it does not understand; `dropped` counts what is more than the channel sends. */
  readWebhook(body: unknown, now: Date): { events: WebhookEvent[]; dropped: number }
}
