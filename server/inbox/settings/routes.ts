import type { Context } from '../../context.ts'
import { attachmentUrl } from '../../conversations/attachments/serve-attachments.ts'
import { attachmentOf, keepUpload } from '../../conversations/attachments/uploads.ts'
import { type Route, route, SENT } from '../../platform/http/route.ts'
import { createEventFeeds, type EventFeeds } from '../live/event-feeds.ts'
import { followEvents } from '../live/follow-events.ts'
import { authorOf, requireMember } from '../team/find-member.ts'
import { requireTicket } from '../tickets/ticket-queries.ts'
import {
  type CannedRow,
  cannedRepliesOf,
  createCannedReply,
  deleteCannedReply,
  requireCannedReply,
  updateCannedReply,
} from './canned-replies.ts'
import * as contract from './contract.ts'
import { fillVariables, refuseUnknownVariables } from './fill-variables.ts'
import { readSettings, refuseHours, updateSettings } from './settings.ts'
import { createTag, deleteTag, setTags, type TagRow, tagsOf, tagsOfTicket, updateTag } from './tags.ts'
import { clocksOf, surveyOf } from './ticket-extras.ts'

export const deskRoutes = (
  ctx: Pick<Context, 'config' | 'db' | 'filesDir' | 'log' | 'notifier' | 'secrets' | 'stopping'>,
): Route[] => [
  ...tagRoutes(ctx),
  ...cannedRoutes(ctx),
  ...liveRoutes(ctx, createEventFeeds(ctx)),

  route(contract.readSettings, async ({ db, ref }) => readSettings(db, ref)),

  route(
    contract.updateSettings,
    {
      check: ({ body }) => {
        if (body.businessHours) refuseHours(body.businessHours)
        if (body.signature) refuseUnknownVariables(body.signature, 'signature')
      },
    },
    async ({ db, ref, body }) => updateSettings(db, ref, body),
  ),

  route(contract.readTicketClocks, async ({ ref }) => {
    return clocksOf(ctx.db, await requireTicket(ctx.db, ref))
  }),

  route(contract.readTicketSurvey, async ({ ref }) => {
    return surveyOf(ctx.db, await requireTicket(ctx.db, ref))
  }),

  route(
    contract.uploadAttachment,
    { check: ({ form }) => attachmentOf(form, contract.uploadAttachment.multipart.file) },
    async ({ db, ref, checked: file }) => {
      const note = await keepUpload({ ...ctx, db }, ref, file, null)
      return { ...note, url: attachmentUrl(ctx, ref, note.id) }
    },
  ),
]

const liveRoutes = (ctx: Pick<Context, 'db' | 'stopping'>, feeds: EventFeeds): Route[] => [
  route(contract.followEvents, async ({ ref, request, reply }) => {
    await followEvents(ctx, feeds, ref, request, reply)
    return SENT
  }),
]

const tagRoutes = (ctx: Pick<Context, 'db' | 'notifier'>): Route[] => [
  route(contract.listTags, async ({ ref }) => (await tagsOf(ctx.db, ref)).map(presentTag)),

  route(contract.createTag, async ({ db, ref, body }) => presentTag(await createTag(db, ref, body))),

  route(contract.updateTag, async ({ ref, params, body }) =>
    presentTag(await updateTag(ctx.db, ref, params.tagId, body)),
  ),

  route(contract.deleteTag, async ({ ref, params }) => {
    await deleteTag(ctx.db, ref, params.tagId)
    return { success: true as const }
  }),

  route(contract.readTicketTags, async ({ ref }) => {
    const ticket = await requireTicket(ctx.db, ref)
    return (await tagsOfTicket(ctx.db, ticket)).map(presentTag)
  }),

  route(contract.setTicketTags, async ({ ref, body }) => {
    return (await setTags(ctx, ref, body.tagIds)).map(presentTag)
  }),
]

const cannedRoutes = (ctx: Pick<Context, 'db'>): Route[] => [
  route(contract.listCannedReplies, async ({ ref }) =>
    (await cannedRepliesOf(ctx.db, ref)).map(presentCanned),
  ),

  route(
    contract.createCannedReply,
    { check: ({ body }) => refuseUnknownVariables(body.content) },
    async ({ db, ref, body }) => {
      return presentCanned(await createCannedReply(db, ref, body))
    },
  ),

  route(
    contract.updateCannedReply,
    { check: ({ body }) => body.content !== undefined && refuseUnknownVariables(body.content) },
    async ({ ref, params, body }) => {
      return presentCanned(await updateCannedReply(ctx.db, ref, params.cannedReplyId, body))
    },
  ),

  route(contract.deleteCannedReply, async ({ ref, params }) => {
    await deleteCannedReply(ctx.db, ref, params.cannedReplyId)
    return { success: true as const }
  }),

  route(
    contract.fillCannedReply,
    { check: ({ body }) => authorOf(body) },
    async ({ db, ref, agent, params, body, checked: named }) => {
      const canned = await requireCannedReply(db, ref, params.cannedReplyId)
      const ticket = await requireTicket(db, { ...ref, ticketNumber: body.ticketNumber })
      const author = await requireMember(db, ref.accountId, named)
      return fillVariables(canned.content, { ticket, author, agent })
    },
  ),
]

const presentTag = ({ id, name, color }: TagRow) => ({ id, name, color })

const presentCanned = (row: CannedRow) => ({
  id: row.id,
  name: row.name,
  content: row.content,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})
