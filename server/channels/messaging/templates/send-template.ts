import { sql } from 'kysely'
import { parsePhoneNumberFromString } from 'libphonenumber-js'
import type { Static } from 'typebox'
import type { Context } from '../../../context.ts'
import { LEASE_SECONDS } from '../../../inbox/deliveries/claim-delivery.ts'
import { enqueueDelivery } from '../../../inbox/deliveries/enqueue-delivery.ts'
import { changeDelivery, failDelivery } from '../../../inbox/deliveries/settle-delivery.ts'
import { publishDeskEvent } from '../../../inbox/tickets/publish-desk-event.ts'
import { newId } from '../../../platform/db/ids.ts'
import { type AgentRef, ofAgent, ownRow } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { freeKey, type KeyedRequest, takeKey } from '../../../platform/http/idempotency/idempotency.ts'
import { clientOf } from '../connection/client-of.ts'
import { digitsOf } from '../connection/numbers.ts'
import type { ProviderTemplate, TemplateValues } from '../connection/provider-adapter.ts'
import { ProviderFailure } from '../connection/provider-failure.ts'
import type { ThreadData } from '../inbound/person-thread.ts'
import { callbackOf } from '../outbound/pieces.ts'
import { sendErrorOf } from '../outbound/send-errors.ts'
import type { SentTemplate, TemplateMessage } from '../schema.ts'
import { chooseSender, type Sender } from './choose-sender.ts'
import { chooseTemplate } from './choose-template.ts'
import { settleTemplate } from './settle-template.ts'
import { templateAccounts } from './template-accounts.ts'
import { isOfNumber, threadToDial } from './template-thread.ts'
import { checkVariables, renderTemplate } from './template-variables.ts'

type Deps = Pick<Context, 'db' | 'secrets' | 'fetcher' | 'notifier' | 'log'>
type TemplateRequest = Static<typeof TemplateMessage>

/**
 * Sends an approved template and adds it to the conversation with the recipient. Its delivery is stored before the
 * request to the provider, so that a lost response or a dead process leaves a record: a later status settles it, and
 * a repetition with the same Idempotency-Key finds it (answerEarlier). Throws the errors of the contract, in its
 * order.
 */
export async function sendTemplate(
  ctx: Deps,
  { accountId, agentId }: AgentRef,
  wanted: TemplateRequest,
  request: KeyedRequest | null,
): Promise<Static<typeof SentTemplate>> {
  const accounts = await templateAccounts(ctx, agentId)
  const sender = await chooseSender(ctx, accounts, wanted.from)
  const client = clientOf(ctx, sender.account)
  const template = await chooseTemplate(client, sender.account.businessAccountId, wanted.template)
  const phone = phoneOf(wanted.to)
  if (phone !== null) await refuseOptedOut(ctx, { accountId, agentId }, sender, phone)
  const values = checkVariables(template, wanted.template.variables ?? {})
  if (phone === null) throw new ApiError('RECIPIENT_INVALID')
  const begun = await begin(ctx, { accountId, agentId }, sender, phone, { template, values, request })
  const addressed = { numberId: sender.number.id, to: begun.to, callback: callbackOf(begun.deliveryId, 0) }
  const taken = await client.sendTemplate(addressed, template, values).catch(async (error: unknown) => {
    throw await failed(ctx, accountId, begun.deliveryId, request, error)
  })
  const { conversationId } = await transact(ctx.db, async (trx) => {
    const delivery = await trx
      .selectFrom('deliveries')
      .selectAll()
      .where(ownRow(accountId, begun.deliveryId))
      .forUpdate()
      .executeTakeFirstOrThrow()
    const { conversation_id: id } = await settleTemplate(trx, delivery, taken)
    await publishDeskEvent(
      ctx,
      trx,
      { accountId, agentId },
      { type: 'conversation', data: { conversationId: id } },
    )
    return { conversationId: id }
  })
  return { messageId: taken.messageId, conversationId, to: taken.recipient }
}

/** Returns the number in E.164, or null when it is not a number with a country code. */
export function phoneOf(text: string): string | null {
  if (!/^[+\d\s().\-/]+$/.test(text)) return null
  const number = parsePhoneNumberFromString(`+${digitsOf(text)}`)
  return number?.isPossible() ? number.number : null
}

const placeOf = ({ accountId, agentId }: AgentRef, { number }: Sender) => ({
  account_id: accountId,
  agent_id: agentId,
  connection: number.id,
})

async function refuseOptedOut({ db }: Deps, ref: AgentRef, { number }: Sender, phone: string): Promise<void> {
  const thread = await db
    .selectFrom('channel_threads')
    .select('opted_out_at')
    .where(ofAgent(ref))
    .where('channel', '=', 'messaging')
    .where('connection', '=', number.id)
    .where(isOfNumber(phone))
    .where('opted_out_at', 'is not', null)
    .executeTakeFirst()
  if (thread) throw optedOut()
}

const optedOut = (): ApiError =>
  new ApiError('SEND_BLOCKED', {
    message: 'The recipient has opted out.',
    details: { reason: 'opted_out' },
  })

type Sending = { template: ProviderTemplate; values: TemplateValues; request: KeyedRequest | null }

function begin(
  { db }: Deps,
  ref: AgentRef,
  sender: Sender,
  phone: string,
  { template, values, request }: Sending,
): Promise<{ deliveryId: string; to: string }> {
  const { name, language } = template
  const id = newId()
  return transact(db, async (trx) => {
    if (request) await takeKey(trx, request, { deliveryId: id })
    const thread = await threadToDial(trx, placeOf(ref, sender), phone)
    if (thread.opted_out_at) throw optedOut()
    const deliveryId = await enqueueDelivery(trx, {
      id,
      ...ref,
      channel: 'messaging',
      threadId: thread.id,
      conversationId: null,
      ticketId: null,
      messageId: null,
      ticketMessageId: null,
      content: {
        text: renderTemplate(template, values),
        template: { name, language, isSettled: false },
      },
    })
    // This request is sending it, so no other process may, and later deliveries of the thread wait.
    const lease = sql<Date>`now() + ${LEASE_SECONDS} * interval '1 second'`
    const underWay = { status: 'sending' as const, attempts: 1, lease_until: lease }
    await changeDelivery(trx, { id: deliveryId, account_id: ref.accountId }, underWay)
    const { recipient = '' }: ThreadData = thread.data
    return { deliveryId, to: /^\d+$/.test(recipient) ? recipient : digitsOf(phone) }
  })
}

/**
 * Stores the failure and returns the contract's error. If nothing was sent, the Idempotency-Key is released, so that
 * the request may be repeated.
 */
async function failed(
  { db, log }: Deps,
  accountId: AccountId,
  deliveryId: string,
  request: KeyedRequest | null,
  error: unknown,
): Promise<unknown> {
  const failure = error instanceof ProviderFailure ? error : null
  log.info({ err: error, delivery: deliveryId }, 'the provider rejected a template message')
  const isUncertain = failure === null || failure.code === 'uncertain'
  await transact(db, async (trx) => {
    if (request && !isUncertain) await freeKey(trx, request)
    const reason = failure?.message ?? 'An error inside the service.'
    await failDelivery(trx, accountId, deliveryId, { reason, isUncertain })
  })
  return failure ? sendErrorOf(failure) : error
}
