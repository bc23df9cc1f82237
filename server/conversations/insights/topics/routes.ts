import type { Static } from 'typebox'
import type { Context } from '../../../context.ts'
import { byCreation, type PageRequest, readPage } from '../../../platform/http/pagination.ts'
import { type Route, route } from '../../../platform/http/route.ts'
import { addTopic, changeTopic, freezeTopics, removeTopic } from './change-topics.ts'
import * as contract from './contract.ts'
import { mergeTopic } from './merge-topic.ts'
import { listTopicRows, type TopicRow, topicSettings } from './queries.ts'
import type { Topic } from './schema.ts'

export const topicRoutes = ({ db }: Pick<Context, 'db'>): Route[] => [
  route(contract.listTopics, ({ ref, query }) => {
    const read = (page: PageRequest) => listTopicRows(db, ref, page)
    return readPage(query, ['topics', ref.agentId], read, byCreation, present)
  }),

  route(contract.createTopic, async ({ db, ref, body }) => {
    return present(await addTopic(db, ref, body))
  }),

  route(contract.readTopicSettings, async ({ db, ref }) => {
    const { frozen } = await topicSettings(db, ref)
    return { frozen }
  }),

  route(contract.updateTopicSettings, async ({ db, ref, body }) => {
    await freezeTopics(db, ref, body.frozen)
    return { frozen: body.frozen }
  }),

  route(contract.updateTopic, async ({ ref, params: { topicId }, body }) => {
    return present(await changeTopic(db, ref, topicId, body))
  }),

  route(contract.deleteTopic, async ({ ref, params: { topicId } }) => {
    await removeTopic(db, ref, topicId)
    return { success: true as const }
  }),

  route(contract.mergeTopic, async ({ db, ref, params: { topicId }, body }) => {
    return present(await mergeTopic(db, ref, topicId, body.intoTopicId))
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
