import type { Context } from '../../../context.ts'
import { attachmentUrl } from '../../../conversations/attachments/serve-attachments.ts'
import { requireConversation } from '../../../conversations/records/queries.ts'
import { findTicketMessage } from '../../../inbox/messages/list-ticket-messages.ts'
import { requireTicket } from '../../../inbox/tickets/ticket-queries.ts'
import { isId } from '../../../platform/db/ids.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { type Route, route } from '../../../platform/http/route.ts'
import { type RawRoute, rawRoute } from '../../../platform/http/server/serve-raw.ts'
import type { SecretLocation } from '../../../platform/secrets/seal.ts'
import { listConversationMails, readConversationOriginal, readOriginal } from './contract.ts'
import { mailsOf, originalOf } from './originals.ts'
import { showOriginal } from './page-contract.ts'
import { hasRemoteImages, safeHtml } from './safe-html.ts'

type Deps = Pick<Context, 'config' | 'db' | 'secrets'>

const HOUR_MS = 60 * 60 * 1_000
/** A URL is not stored, so there is no row to bind it to. */
const PLACE: SecretLocation = { table: 'mail_originals', row: '', purpose: 'address' }

const noOriginal = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', {
    message: 'The message has no HTML that could be shown, or the address has expired.',
  })

type Token = { accountId: AccountId; messageId: string; withImages: boolean; until: number }

export const originalRoutes = (ctx: Deps): Route[] => [
  route(readOriginal, async ({ ref, params }) => {
    const ticket = await requireTicket(ctx.db, ref)
    const message = isId(params.messageId)
      ? await findTicketMessage(ctx.db, ticket, params.messageId)
      : undefined
    if (!message?.message_id) throw noOriginal()
    return addressesOf(ctx, ref.accountId, message.message_id)
  }),

  route(listConversationMails, async ({ ref }) => {
    await requireConversation(ctx.db, ref)
    return mailsOf(ctx.db, ref)
  }),

  route(readConversationOriginal, async ({ ref, params: { messageId } }) => {
    const { id } = await requireConversation(ctx.db, ref)
    const message = isId(messageId)
      ? await ctx.db
          .selectFrom('messages')
          .select('id')
          .where('account_id', '=', ref.accountId)
          .where('conversation_id', '=', id)
          .where('id', '=', messageId)
          .executeTakeFirst()
      : undefined
    if (!message) throw noOriginal()
    return addressesOf(ctx, ref.accountId, message.id)
  }),
]

async function addressesOf(ctx: Deps, accountId: AccountId, messageId: string) {
  const original = await originalOf(ctx.db, accountId, messageId)
  if (!original) throw noOriginal()
  const urlOf = (withImages: boolean): string => {
    const token: Token = { accountId, messageId, withImages, until: Date.now() + HOUR_MS }
    const sealed = ctx.secrets.key.seal(JSON.stringify(token), PLACE)
    return `${ctx.config.publicUrl ?? ''}/mail-originals/${encodeURIComponent(sealed)}`
  }
  return {
    url: urlOf(false),
    urlWithImages: urlOf(true),
    hasRemoteImages: hasRemoteImages(original.html),
  }
}

/** The page is sandboxed by its policy as well as by the frame around it. */
export const originalPages = (ctx: Deps): RawRoute[] => [
  rawRoute(showOriginal, async ({ params: { token }, reply }) => {
    const { accountId, messageId, withImages } = await readToken(ctx, token)
    const original = await originalOf(ctx.db, accountId, messageId)
    if (!original) throw noOriginal()
    const html = safeHtml(original.html, {
      withImages,
      pictureOf: (contentId) => {
        const id = Object.hasOwn(original.pictures, contentId) ? original.pictures[contentId] : undefined
        return id === undefined ? null : attachmentUrl(ctx, { accountId, agentId: original.agent_id }, id)
      },
    })
    // A service behind several names has the public one in the addresses of its files.
    const own = [`'self'`, ctx.config.publicUrl ? new URL(ctx.config.publicUrl).origin : ''].join(' ')
    reply.removeHeader('x-frame-options')
    return reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': [
          "default-src 'none'",
          "style-src 'unsafe-inline'",
          `img-src data: ${own}${withImages ? ' http: https:' : ''}`,
          "form-action 'none'",
          "base-uri 'none'",
          "frame-ancestors 'self'",
          'sandbox allow-popups allow-popups-to-escape-sandbox',
        ].join('; '),
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'private, no-store',
      })
      .send(`<!doctype html><html><head><meta charset="utf-8"></head><body>${html}</body></html>`)
  }),
]

async function readToken({ secrets }: Deps, token: string): Promise<Token> {
  try {
    const found: Token = JSON.parse(await secrets.decrypt(token, PLACE))
    if (found.until > Date.now()) return found
  } catch {
    // The token is damaged or was made by another installation.
  }
  throw noOriginal()
}
