import Type from 'typebox'
import { Cursor, Exact, endpointsOf, Limit, Page, Success } from '../../../platform/http/contract.ts'
import { NewTopic, Topic, TopicChange, TopicSettings } from './schema.ts'

const Id = Type.String({ minLength: 1 })
const endpoint = endpointsOf('Insights')

export const listTopics = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/topics',
  name: 'listTopics',
  summary: 'List the topics of an agent',
  description:
    'Newest first. Topics are added by hand, or proposed by a model, once three conversations without a topic share one.',
  scope: 'conversations:read',
  query: Exact({ cursor: Type.Optional(Cursor), limit: Limit }),
  success: { status: 200, schema: Page(Topic) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const createTopic = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/topics',
  name: 'createTopic',
  summary: 'Add a topic',
  description:
    'Conversations that a language model analyses from now on can get the topic. An agent has at most 100.',
  scope: 'conversations:write',
  body: NewTopic,
  success: { status: 201, schema: Topic },
  errors: ['RESOURCE_DUPLICATE'],
})

export const readTopicSettings = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/topics/settings',
  name: 'readTopicSettings',
  versioned: ['frozen'],
  summary: 'Read whether the topics of an agent are frozen',
  scope: 'conversations:read',
  success: { status: 200, schema: TopicSettings },
})

export const updateTopicSettings = endpoint({
  method: 'PATCH',
  path: '/agents/{agentId}/topics/settings',
  name: 'updateTopicSettings',
  changes: readTopicSettings,
  summary: 'Freeze or unfreeze the topics of an agent',
  scope: 'conversations:write',
  body: TopicSettings,
  success: { status: 200, schema: TopicSettings },
})

export const updateTopic = endpoint({
  method: 'PATCH',
  path: '/agents/{agentId}/topics/{topicId}',
  name: 'updateTopic',
  summary: 'Rename or describe a topic',
  description: 'Its conversations are found under the new name within seconds.',
  scope: 'conversations:write',
  body: TopicChange,
  success: { status: 200, schema: Topic },
  errors: ['RESOURCE_DUPLICATE'],
})

export const deleteTopic = endpoint({
  method: 'DELETE',
  path: '/agents/{agentId}/topics/{topicId}',
  name: 'deleteTopic',
  summary: 'Delete a topic',
  description:
    'The topic is removed from its conversations. A topic with this name is not found again, but can be added by hand.',
  scope: 'conversations:write',
  success: { status: 200, schema: Success },
})

export const mergeTopic = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/topics/{topicId}/merge',
  name: 'mergeTopic',
  summary: 'Merge a topic into another one',
  description:
    'Its conversations get the other topic, and its name becomes an alias of that. Returns the other topic; the merged one is deleted.',
  scope: 'conversations:write',
  body: Exact({ intoTopicId: Id }),
  success: { status: 200, schema: Topic },
})
