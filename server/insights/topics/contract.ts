import Type from 'typebox'
import { Cursor, Exact, endpoint, Limit, Page, Success } from '../../http/contract.ts'
import { NewTopic, Topic, TopicChange, TopicSettings } from './schema.ts'

const Id = Type.String({ minLength: 1 })
const agentParams = Exact({ agentId: Id })
const itemParams = Exact({ agentId: Id, topicId: Id })
const tag = 'Insights'

export const listTopics = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/topics',
  name: 'listTopics',
  tag,
  summary: 'List the topics of an agent',
  description:
    'Newest first. Topics are made by hand, or found: by a model, or by words that conversations have in common, once three conversations without a topic share one.',
  scope: 'conversations:read',
  params: agentParams,
  query: Exact({ cursor: Type.Optional(Cursor), limit: Limit }),
  success: { status: 200, schema: Page(Topic) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const createTopic = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/topics',
  name: 'createTopic',
  tag,
  summary: 'Add a topic',
  description:
    'Conversations that end from now on can get it. Without a model a conversation gets the topics whose name, in any form, stands in one of its messages; `&`, `/` and "or" divide a name into alternatives. At most 100 an agent.',
  scope: 'conversations:write',
  params: agentParams,
  body: NewTopic,
  success: { status: 201, schema: Topic },
  errors: ['RESOURCE_DUPLICATE'],
})

export const readTopicSettings = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/topics/settings',
  name: 'readTopicSettings',
  tag,
  summary: 'Read whether the topics of an agent are frozen',
  scope: 'conversations:read',
  params: agentParams,
  success: { status: 200, schema: TopicSettings },
})

export const updateTopicSettings = endpoint({
  method: 'PATCH',
  path: '/agents/{agentId}/topics/settings',
  name: 'updateTopicSettings',
  tag,
  summary: 'Freeze the topics of an agent, or let new ones be found again',
  scope: 'conversations:write',
  params: agentParams,
  body: TopicSettings,
  success: { status: 200, schema: TopicSettings },
})

export const updateTopic = endpoint({
  method: 'PATCH',
  path: '/agents/{agentId}/topics/{topicId}',
  name: 'updateTopic',
  tag,
  summary: 'Rename or describe a topic',
  description: 'Its conversations are found under the new name within seconds.',
  scope: 'conversations:write',
  params: itemParams,
  body: TopicChange,
  success: { status: 200, schema: Topic },
  errors: ['RESOURCE_DUPLICATE'],
})

export const deleteTopic = endpoint({
  method: 'DELETE',
  path: '/agents/{agentId}/topics/{topicId}',
  name: 'deleteTopic',
  tag,
  summary: 'Delete a topic',
  description: 'Its conversations lose it. One of this name is not found again; it can be added by hand.',
  scope: 'conversations:write',
  params: itemParams,
  success: { status: 200, schema: Success },
})

export const mergeTopic = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/topics/{topicId}/merge',
  name: 'mergeTopic',
  tag,
  summary: 'Merge a topic into another one',
  description:
    'Its conversations get the other topic, and its name becomes an alias of that. Answers the other topic; the merged one is gone.',
  scope: 'conversations:write',
  params: itemParams,
  body: Exact({ intoTopicId: Id }),
  success: { status: 200, schema: Topic },
})
