import type { Static } from 'typebox'
import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { byCreation, decodeCursor, fingerprint, pageOf } from '../../http/pagination.ts'
import { type Route, route } from '../../http/route.ts'
import { addTopic, changeTopic, freezeTopics, removeTopic } from './change-topics.ts'
import * as contract from './contract.ts'
import { mergeTopic } from './merge-topic.ts'
import { listTopicRows, type TopicRow, topicSettings } from './queries.ts'
import type { Topic } from './schema.ts'

export const topicRoutes = ({ db }: Pick<Context, 'db'>): Route[] => [
  route(contract.listTopics, async ({ caller: { account }, params: { agentId }, query }) => {
    await requireAgent(db, account.id, agentId)
    const print = fingerprint('topics', agentId)
    const page = { limit: query.limit, position: decodeCursor(query.cursor, print) }
    const { rows, total } = await listTopicRows(db, account.id, agentId, page)
    return pageOf(rows, query.limit, total, print, byCreation, present)
  }),

  route(contract.createTopic, async ({ db, caller: { account }, params: { agentId }, body }) => {
    await requireAgent(db, account.id, agentId)
    return present(await addTopic(db, { accountId: account.id, agentId }, body))
  }),

  route(contract.readTopicSettings, async ({ caller: { account }, params: { agentId } }) => {
    await requireAgent(db, account.id, agentId)
    const { frozen } = await topicSettings(db, account.id, agentId)
    return { frozen }
  }),

  route(contract.updateTopicSettings, async ({ caller: { account }, params: { agentId }, body }) => {
    await requireAgent(db, account.id, agentId)
    await freezeTopics(db, { accountId: account.id, agentId }, body.frozen)
    return { frozen: body.frozen }
  }),

  route(contract.updateTopic, async ({ caller: { account }, params: { agentId, topicId }, body }) => {
    await requireAgent(db, account.id, agentId)
    return present(await changeTopic(db, { accountId: account.id, agentId }, topicId, body))
  }),

  route(contract.deleteTopic, async ({ caller: { account }, params: { agentId, topicId } }) => {
    await requireAgent(db, account.id, agentId)
    await removeTopic(db, { accountId: account.id, agentId }, topicId)
    return { success: true as const }
  }),

  route(contract.mergeTopic, async ({ db, caller: { account }, params: { agentId, topicId }, body }) => {
    await requireAgent(db, account.id, agentId)
    return present(await mergeTopic(db, { accountId: account.id, agentId }, topicId, body.intoTopicId))
  }),
]

const present = (row: TopicRow): Static<typeof Topic> => ({
  id: row.id,
  name: row.name,
  description: row.description,
  aliases: row.aliases,
  origin: row.origin,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})
