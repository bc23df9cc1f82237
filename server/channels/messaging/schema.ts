import Type from 'typebox'
import { Exact, IsoTime, Nullable, OneOf } from '../../platform/http/contract.ts'
import { BaseUrl } from '../../platform/http/server/base-url.ts'
import { connectionStatuses } from '../registry/connection-status.ts'

const shown = (description: string) => Type.String({ description })

/** service-api, "Messaging template list". */
export const Template = Exact({
  id: Type.String(),
  name: Type.String(),
  language: Type.String(),
  category: shown('MARKETING, UTILITY or AUTHENTICATION'),
  status: shown('APPROVED'),
  parameterFormat: shown('POSITIONAL or NAMED'),
  businessAccountId: shown('The business account that has it'),
  variables: Exact(
    { header: Type.Array(Type.String()), body: Type.Array(Type.String()) },
    { description: 'Keys of the values that a send request must contain' },
  ),
  components: Type.Array(
    Exact({
      type: shown('HEADER, BODY, FOOTER or BUTTONS'),
      format: Type.Optional(shown('Of a header: TEXT, IMAGE, VIDEO or DOCUMENT')),
      text: Type.Optional(Type.String()),
      buttons: Type.Optional(
        Type.Array(Exact({ type: Type.String(), text: Type.String(), url: Type.Optional(Type.String()) })),
      ),
    }),
  ),
})

export const TemplateList = Exact({
  templates: Type.Array(Template),
  complete: Type.Boolean({
    description: 'false: some business accounts could not be read; the list is partial',
  }),
  unavailableBusinessAccountIds: Type.Array(Type.String(), {
    description: 'Send the request again to include them',
  }),
  senders: Type.Array(
    Exact({
      from: shown('A connected number, E.164'),
      businessAccountId: Type.String(),
      verifiedName: Type.String(),
    }),
  ),
})

const secret = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 1_000,
    pattern: '^[\\x21-\\x7e]+$',
    refusal: 'Must be a text without spaces.',
    description,
  })

function repeated(accounts: { businessAccountId: string }[]): Record<string, string> {
  const ids = accounts.map(({ businessAccountId }) => businessAccountId)
  return Object.fromEntries(
    ids.flatMap((id, index) =>
      ids.indexOf(id) < index ? [[`${index}.businessAccountId`, 'Is in the list already.'] as const] : [],
    ),
  )
}

export const Connection = Exact({
  accounts: Type.Array(
    Exact({
      businessAccountId: Type.String({
        pattern: '^[\\w-]{1,64}$',
        refusal: 'Must be the id of a business account.',
      }),
      accessToken: Type.Optional(secret('Lets this service read the account and send in its name')),
      appSecret: Type.Optional(secret('Signs the webhooks of the account')),
      verifyToken: Type.Optional(secret('What the channel says when it asks whose webhook this is')),
    }),
    { minItems: 1, maxItems: 20, rule: repeated },
  ),
  baseUrl: Type.Optional(BaseUrl),
})

const ConnectedNumber = Exact({ phone: shown('E.164'), verifiedName: Type.String() })

export const ConnectionState = Exact({
  accounts: Type.Array(
    Exact({
      businessAccountId: Type.String(),
      numbers: Nullable(Type.Array(ConnectedNumber, { description: 'null: they have not been read yet' })),
      numbersReadAt: Nullable(IsoTime),
      lastError: Nullable(shown('Why the last request to the channel failed; null if it did not')),
      lastCheckedAt: Nullable(IsoTime),
    }),
    { description: 'Empty: messaging is not connected' },
  ),
  status: OneOf(connectionStatuses, { description: 'Whether all accounts worked when they were last used' }),
  baseUrl: Nullable(Type.String({ description: 'null: the public address of the channel' })),
  webhookPath: shown('Where the channel sends what happens, on this host'),
})

export const ConnectionTest = Exact({
  accounts: Type.Array(
    Exact({
      businessAccountId: Type.String(),
      ok: Type.Boolean(),
      error: Nullable(shown('What is wrong, in a sentence')),
      numbers: Type.Array(ConnectedNumber),
    }),
  ),
})

const Values = Type.Record(Type.String(), Type.String({ maxLength: 4_096 }))

export const TemplateMessage = Exact({
  to: Type.String({ minLength: 1, maxLength: 64, description: 'Phone number with country code' }),
  from: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'The connected number that sends; required if there are several',
    }),
  ),
  template: Exact({
    name: Type.String({ minLength: 1, maxLength: 512 }),
    language: Type.Optional(
      Type.String({ minLength: 1, maxLength: 20, description: 'Required if there are several' }),
    ),
    variables: Type.Optional(
      Exact(
        { header: Type.Optional(Values), body: Type.Optional(Values) },
        { description: 'The values by their keys in the list of templates' },
      ),
    ),
  }),
})

export const SentTemplate = Exact({
  messageId: shown('As the channel has named the message'),
  conversationId: shown('Where the recipient’s replies continue'),
  to: shown('The recipient, as the channel names people'),
})

export const UnreadableEvent = Exact({
  id: Type.String(),
  kind: shown('type, group, without_sender, without_id, account, number, field, status or error'),
  reference: shown('The channel’s id of it, or what it has in place of one'),
  detail: Nullable(shown('What is known besides, such as the type of the message')),
  whatToDo: shown('A sentence'),
  isMessage: Type.Boolean({ description: 'Whether somebody wrote something that nobody has read' }),
  count: Type.Integer({ minimum: 1, description: 'How often it was delivered' }),
  firstAt: IsoTime,
  lastAt: IsoTime,
  conversationId: Nullable(shown('Where the sender writes, if it is known')),
})
