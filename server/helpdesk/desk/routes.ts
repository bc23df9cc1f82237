import { requireAgent, requireOwner } from '../../agents/records/find-agent.ts'
import { attachmentUrl } from '../../attachments/serve-attachments.ts'
import { attachmentOf, keepUpload } from '../../attachments/uploads.ts'
import type { Context } from '../../context.ts'
import { type Route, route, SENT } from '../../http/route.ts'
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

export const deskRoutes = (ctx: Context): Route[] => [
  ...tagRoutes(ctx),
  ...cannedRoutes(ctx),
  ...liveRoutes(ctx, createEventFeeds(ctx)),

  route(contract.readSettings, async ({ caller: { account }, params }) =>
    readSettings(ctx.db, await requireOwner(ctx.db, account.id, params)),
  ),

  route(contract.updateSettings, async ({ caller: { account }, params, body }) => {
    if (body.businessHours) refuseHours(body.businessHours)
    return updateSettings(ctx.db, await requireOwner(ctx.db, account.id, params), body)
  }),

  route(contract.readTicketClocks, async ({ caller: { account }, params }) => {
    const owner = await requireOwner(ctx.db, account.id, params)
    return clocksOf(ctx.db, await requireTicket(ctx.db, { ...owner, ticketNumber: params.ticketNumber }))
  }),

  route(contract.readTicketSurvey, async ({ caller: { account }, params }) => {
    const owner = await requireOwner(ctx.db, account.id, params)
    return surveyOf(ctx.db, await requireTicket(ctx.db, { ...owner, ticketNumber: params.ticketNumber }))
  }),

  route(contract.uploadAttachment, async ({ db, caller: { account }, params, form }) => {
    const file = attachmentOf(form, contract.uploadAttachment.multipart.file)
    const owner = await requireOwner(db, account.id, params)
    const note = await keepUpload({ ...ctx, db }, owner, file, null)
    return { ...note, url: attachmentUrl(ctx, owner, note.id) }
  }),
]

const liveRoutes = (ctx: Context, feeds: EventFeeds): Route[] => [
  route(contract.followEvents, async ({ caller: { account }, params, request, reply }) => {
    const owner = await requireOwner(ctx.db, account.id, params)
    await followEvents(ctx, feeds, owner, request, reply)
    return SENT
  }),
]

const tagRoutes = (ctx: Context): Route[] => [
  route(contract.listTags, async ({ caller: { account }, params }) =>
    (await tagsOf(ctx.db, await requireOwner(ctx.db, account.id, params))).map(presentTag),
  ),

  route(contract.createTag, async ({ db, caller: { account }, params, body }) =>
    presentTag(await createTag(db, await requireOwner(db, account.id, params), body)),
  ),

  route(contract.updateTag, async ({ caller: { account }, params, body }) =>
    presentTag(await updateTag(ctx.db, await requireOwner(ctx.db, account.id, params), params.tagId, body)),
  ),

  route(contract.deleteTag, async ({ caller: { account }, params }) => {
    await deleteTag(ctx.db, await requireOwner(ctx.db, account.id, params), params.tagId)
    return { success: true as const }
  }),

  route(contract.readTicketTags, async ({ caller: { account }, params }) => {
    const owner = await requireOwner(ctx.db, account.id, params)
    const ticket = await requireTicket(ctx.db, { ...owner, ticketNumber: params.ticketNumber })
    return (await tagsOfTicket(ctx.db, ticket)).map(presentTag)
  }),

  route(contract.setTicketTags, async ({ caller: { account }, params, body }) => {
    const owner = await requireOwner(ctx.db, account.id, params)
    return (await setTags(ctx, { ...owner, ticketNumber: params.ticketNumber }, body.tagIds)).map(presentTag)
  }),
]

const cannedRoutes = (ctx: Context): Route[] => [
  route(contract.listCannedReplies, async ({ caller: { account }, params }) =>
    (await cannedRepliesOf(ctx.db, await requireOwner(ctx.db, account.id, params))).map(presentCanned),
  ),

  route(contract.createCannedReply, async ({ db, caller: { account }, params, body }) => {
    refuseUnknownVariables(body.content)
    return presentCanned(await createCannedReply(db, await requireOwner(db, account.id, params), body))
  }),

  route(contract.updateCannedReply, async ({ caller: { account }, params, body }) => {
    if (body.content !== undefined) refuseUnknownVariables(body.content)
    const owner = await requireOwner(ctx.db, account.id, params)
    return presentCanned(await updateCannedReply(ctx.db, owner, params.cannedReplyId, body))
  }),

  route(contract.deleteCannedReply, async ({ caller: { account }, params }) => {
    await deleteCannedReply(ctx.db, await requireOwner(ctx.db, account.id, params), params.cannedReplyId)
    return { success: true as const }
  }),

  route(contract.fillCannedReply, async ({ db, caller: { account }, params, body }) => {
    const named = authorOf(body)
    const agent = await requireAgent(db, account.id, params.agentId)
    const owner = { accountId: account.id, agentId: agent.id }
    const canned = await requireCannedReply(db, owner, params.cannedReplyId)
    const ticket = await requireTicket(db, { ...owner, ticketNumber: body.ticketNumber })
    const author = await requireMember(db, account.id, named)
    return fillVariables(canned.content, { ticket, author, agent })
  }),
]

const presentTag = ({ id, name, color }: TagRow) => ({ id, name, color })

const presentCanned = (row: CannedRow) => ({
  id: row.id,
  name: row.name,
  content: row.content,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})
