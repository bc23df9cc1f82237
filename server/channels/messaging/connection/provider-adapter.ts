import type { IncomingHttpHeaders } from 'node:http'
import type { InboundContent, MessagingNumber } from '../../../platform/db/tables/channels.ts'
import type { GuardedFetcher } from '../../../platform/fetch/guard/guarded-fetcher.ts'

/** What is needed for requests to the provider of a business account. `baseUrl: null` is the public address. */
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

/** The values by the keys of the template. */
export type TemplateValues = { header: Record<string, string>; body: Record<string, string> }

/** The provider has accepted the message. `recipient` is its id of the person. */
export type Accepted = { messageId: string; recipient: string }

/** `callback` comes back with each status of the message. */
export type Addressed = { numberId: string; to: string; callback: string }

/** The requests to the provider. All of them throw ProviderFailure. */
export type ProviderClient = {
  numbers(businessAccountId: string): Promise<MessagingNumber[]>
  /** Returns the templates of every status and page. With a name, it may leave out those with other names. */
  templates(businessAccountId: string, name?: string): Promise<ProviderTemplate[]>
  sendText(addressed: Addressed, text: string): Promise<Accepted>
  /** Sends a text with a button. It is only called for a provider with `button`. */
  sendButton(addressed: Addressed, text: string, button: { id: string; title: string }): Promise<Accepted>
  sendFile(
    addressed: Addressed,
    file: { name: string; type: string; bytes: Uint8Array<ArrayBuffer> },
  ): Promise<Accepted>
  sendTemplate(addressed: Addressed, template: ProviderTemplate, values: TemplateValues): Promise<Accepted>
  /** Returns a file that a person has sent, of at most `maxBytes`. */
  fetchFile(numberId: string, fileId: string, maxBytes: number): Promise<Uint8Array>
}

export type MessageStatus = 'sent' | 'delivered' | 'read' | 'failed'

/** What the provider says of a person. At least one of the ids is set. */
export type Sender = {
  /** The phone number as the provider writes it: digits only. */
  phone: string | null
  userId: string | null
  /** The id that several businesses of one owner share. */
  parentUserId: string | null
  username: string | null
  name: string | null
}

type Place = { businessAccountId: string; numberId: string }

/** The content of a message. `words` is the text of one without files, which may be a word that opts out. */
type Received = { sentAt: Date; content: InboundContent; words: string | null }

/** The events of a webhook, in the provider's order. `messageId` is the provider's id of the event. */
export type WebhookEvent = Place & { messageId: string } & (
    | ({
        kind: 'message'
        from: Sender
        /** The id of the button that was pressed. */
        pressed: string | null
      } & Received)
    | ({ kind: 'edit'; from: Sender; originalId: string } & Received)
    | { kind: 'deletion'; from: Sender; originalId: string; sentAt: Date }
    | {
        /** The person has other ids from now on. */
        kind: 'replacement'
        from: Sender
        now: Sender
        sentAt: Date
        content: InboundContent
      }
    | {
        kind: 'status'
        callback: string | null
        recipient: string | null
        /** All ids of the recipient, if the provider has named more than one. */
        to: Sender | null
        status: MessageStatus
        reason: string | null
      }
    | ({ kind: 'unreadable' } & Unreadable)
  )

/** What cannot be read. `isMessage`: somebody wrote something. */
export type Unreadable = { what: string; detail: string | null; isMessage: boolean }

/** `url` is the webhook's address as the provider knows it, with the query. */
export type SignedRequest = { url: string; headers: IncomingHttpHeaders; body: Uint8Array }

/** What one messaging provider has of its own: its wire protocol and its rules. */
export type ProviderAdapter = {
  /** The most characters of a text message. */
  maxTextLength: number
  /** The most characters of a button's title and of the text above it; null for a provider without buttons. */
  button: { maxTitleLength: number; maxTextLength: number } | null
  /**
   * How long after a person's last message the provider accepts texts and files, and the sentence for the customer when
   * that time is over. null: always.
   */
  replyWindow: { ms: number; refusal: string } | null
  /** Whether the provider has templates. Without them, the client's `templates` and `sendTemplate` are never called. */
  hasTemplates: boolean
  /** Converts Markdown to the provider's markup. Citation markers are removed unless a person wrote the text. */
  formatText(markdown: string, options: { dropCitations: boolean }): string
  client(settings: {
    fetcher: GuardedFetcher
    access: Access
    signal?: AbortSignal
    timeoutMs?: number
    /** The number of retries of requests that only read. */
    retries?: number
  }): ProviderClient
  /** Reads the request with which the provider verifies the webhook. Returns null for any other request. */
  readHandshake(query: Record<string, unknown>): { token: string; challenge: string } | null
  /** Returns whether the request has a signature, right or wrong. */
  claimsSignature(headers: IncomingHttpHeaders): boolean
  isSigned(request: SignedRequest, secret: string): boolean
  /**
   * Reads a webhook. Parts that cannot be read become events of their own. `dropped` is the number of entries beyond
   * what the provider ever sends.
   */
  readWebhook(body: unknown, now: Date): { events: WebhookEvent[]; dropped: number }
}
