import type { Static } from 'typebox'
import type { Context } from '../../context.ts'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { chosenIn, problemsOfPeople } from '../messages/recipients.ts'
import { problemsOfContent } from '../messages/reply-to-ticket.ts'
import { authorOf, requireAuthor } from '../team/find-member.ts'
import { markOnline } from '../team/mark-online.ts'
import { presentTicket, presentTicketMessage } from '../tickets/present.ts'
import { requireTicket } from '../tickets/ticket-queries.ts'
import * as contract from './contract.ts'
import { forwardTicket } from './forward-ticket.ts'
import {
  type HeldRow,
  heldMailsOf,
  heldRepliesOf,
  holdForward,
  holdMail,
  holdReply,
  takeBackMail,
  takeBackReply,
} from './held-replies.ts'
import { writeMail } from './write-mail.ts'

type Deps = Pick<Context, 'config' | 'db' | 'jobs' | 'log' | 'notifier' | 'secrets'>

export const deskMailRoutes = (ctx: Deps): Route[] => [
  ...sendingRoutes(ctx),
  ...heldReplyRoutes(ctx),
  ...heldMailRoutes(ctx),
]

const sendingRoutes = (ctx: Deps): Route[] => [
  route(
    contract.writeMail,
    {
      check: ({ body }) => authorOf(body, { ...problemsOfContent(body.content), ...problemsOfPeople(body) }),
    },
    async ({ db, ref, caller, body, checked: named }) => {
      const author = await requireAuthor(db, caller, named)
      const { subject, name, content: text, attachments: attachmentIds = [] } = body
      const mail = { subject, name, text, attachmentIds, people: chosenIn(body) }
      const ticket = await writeMail({ ...ctx, db }, ref, author, mail)
      await markOnline(ctx, db, caller)
      return presentTicket(ticket)
    },
  ),

  route(
    contract.forwardTicket,
    { check: ({ body }) => authorOf(body, problemsOfPeople(body)) },
    async ({ db, ref, caller, body, checked: named }) => {
      await requireTicket(db, ref)
      const author = await requireAuthor(db, caller, named)
      const message = await forwardTicket({ ...ctx, db }, ref, author, {
        people: chosenIn(body),
        note: body.note ?? null,
        messageId: body.messageId ?? null,
      })
      return presentTicketMessage(ctx, message, { status: 'queued', error: null })
    },
  ),
]

const heldReplyRoutes = (ctx: Deps): Route[] => [
  route(
    contract.holdReply,
    {
      check: ({ body }) => authorOf(body, { ...problemsOfContent(body.content), ...problemsOfPeople(body) }),
    },
    async ({ db, ref, caller, body, checked: named }) => {
      await requireTicket(db, ref)
      const author = await requireAuthor(db, caller, named)
      const { content, attachments = [], holdSeconds } = body
      const { heldAnswerId } = body
      const reply = {
        content,
        attachments,
        ...chosenIn(body),
        ...(heldAnswerId === undefined ? {} : { heldAnswerId }),
      }
      const row = await holdReply({ ...ctx, db }, ref, reply, { author, holdSeconds })
      await markOnline(ctx, db, caller)
      return presentHeld(db, row)
    },
  ),

  route(contract.listHeldReplies, async ({ ref }) => {
    const rows = await heldRepliesOf(ctx.db, ref)
    return Promise.all(rows.map((row) => presentHeld(ctx.db, row)))
  }),

  route(contract.takeBackReply, async ({ db, ref, params }) =>
    presentHeld(db, await takeBackReply({ ...ctx, db }, ref, params.heldReplyId)),
  ),
]

const heldMailRoutes = (ctx: Deps): Route[] => [
  route(
    contract.holdMail,
    {
      check: ({ body }) => authorOf(body, { ...problemsOfContent(body.content), ...problemsOfPeople(body) }),
    },
    async ({ db, ref, caller, body, checked: named }) => {
      const author = await requireAuthor(db, caller, named)
      const { content, attachments = [], subject, name, holdSeconds } = body
      const mail = {
        content,
        attachments,
        subject,
        ...(name === undefined ? {} : { name }),
        ...chosenIn(body),
      }
      const row = await holdMail({ ...ctx, db }, ref, mail, { author, holdSeconds })
      await markOnline(ctx, db, caller)
      return presentHeldMail(db, { ...row, number: null })
    },
  ),

  route(
    contract.holdForward,
    { check: ({ body }) => authorOf(body, problemsOfPeople(body)) },
    async ({ db, ref, caller, body, checked: named }) => {
      await requireTicket(db, ref)
      const author = await requireAuthor(db, caller, named)
      const { note = '', messageId, holdSeconds } = body
      const forward = { content: note, ...(messageId === undefined ? {} : { messageId }), ...chosenIn(body) }
      const row = await holdForward({ ...ctx, db }, ref, forward, { author, holdSeconds })
      return presentHeldMail(db, { ...row, number: ref.ticketNumber })
    },
  ),

  route(contract.listHeldMails, async ({ ref }) => {
    const rows = await heldMailsOf(ctx.db, ref)
    return Promise.all(rows.map((row) => presentHeldMail(ctx.db, row)))
  }),

  route(contract.takeBackMail, async ({ db, ref, params }) =>
    presentHeldMail(db, await takeBackMail({ ...ctx, db }, ref, params.heldMailId)),
  ),
]

const presentHeldMail = async (
  db: Db,
  row: HeldRow & { number: number | null },
): Promise<Static<typeof contract.holdMail.success.schema>> => ({
  ...(await presentHeld(db, row)),
  kind: row.kind === 'forward' ? 'forward' : 'mail',
  ticketNumber: row.number,
})

type HeldReply = Static<typeof contract.holdReply.success.schema>

async function presentHeld(db: Db, row: HeldRow): Promise<HeldReply> {
  const { content, attachments = [], ...people } = row.reply
  const wanted = attachments.filter(isId)
  const files =
    wanted.length === 0
      ? []
      : await db
          .selectFrom('attachments')
          .select(['id', 'name', 'size'])
          .where('account_id', '=', row.account_id)
          .where('agent_id', '=', row.agent_id)
          .where('id', 'in', wanted)
          .execute()
  return {
    id: row.id,
    authorId: row.author_id,
    content,
    attachments: files.map(({ id, name, size }) => ({ id, name, size: Number(size) })),
    ...people,
    dueAt: row.due_at.toISOString(),
    error: row.error,
  }
}
