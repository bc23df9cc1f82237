import Type from 'typebox'
import { MAX_JSON_BYTES, Source } from '../../../knowledge/sources/schema.ts'
import { Cursor, Exact, endpointsOf, Limit, Page, Success } from '../../../platform/http/contract.ts'
import {
  AgentDraft,
  AgentVersion,
  DraftChanges,
  draftFields,
  ListedVersion,
  NewDraftSource,
  UpdateDraft,
} from './schema.ts'

const Id = Type.String({ minLength: 1 })
const params = Exact({ agentId: Id })
const versionParams = Exact({ agentId: Id, agentVersionId: Id })
const endpoint = endpointsOf('Drafts')
const draft = '/agents/{agentId}/draft'
const versions = '/agents/{agentId}/versions'

export const readDraft = endpoint({
  method: 'GET',
  path: draft,
  name: 'readDraft',
  summary: 'Read the draft of an agent',
  description:
    'What customers are answered with is the live agent, which all other endpoints read and change. The draft is what differs from it; everything else is as in the live agent. Answers of the draft are given by the playground and by tests with `version: draft`. Needs the scope actions:read, too.',
  scope: 'agents:read',
  versioned: draftFields,
  params,
  success: { status: 200, schema: AgentDraft },
})

export const updateDraft = endpoint({
  method: 'PUT',
  path: draft,
  name: 'updateDraft',
  changes: readDraft,
  summary: 'Change the draft of an agent',
  description:
    'Begins one if there is none. What is not sent stays as it is. Needs the scope actions:read, too. Actions and procedures need the scope actions:write, sources sources:write. To add an action or a procedure, create it disabled and enable it in the draft.',
  scope: 'agents:write',
  params,
  body: UpdateDraft,
  success: { status: 200, schema: AgentDraft },
})

export const discardDraft = endpoint({
  method: 'DELETE',
  path: draft,
  name: 'discardDraft',
  changes: readDraft,
  summary: 'Discard the draft of an agent',
  description:
    'The live agent stays as it is. Sources that only the draft has are deleted, for which the scope sources:write is needed.',
  scope: 'agents:write',
  params,
  success: { status: 200, schema: Success },
})

export const createDraftSource = endpoint({
  method: 'POST',
  path: `${draft}/sources`,
  name: 'createDraftSource',
  summary: 'Add a text, or questions and an answer, to the draft of an agent',
  description:
    'Only answers of the draft use it until it is published. It counts towards the size of the training data, can be read, changed and deleted by its id like any other source, and is in no list of sources.',
  scope: 'sources:write',
  params,
  body: NewDraftSource,
  bodyLimit: MAX_JSON_BYTES,
  success: { status: 201, schema: Source },
  errors: ['SOURCE_SIZE_LIMIT_EXCEEDED'],
})

export const readDraftChanges = endpoint({
  method: 'GET',
  path: `${draft}/changes`,
  name: 'readDraftChanges',
  summary: 'Compare the draft of an agent with the live one, field by field',
  description: 'Needs the scope actions:read, too.',
  scope: 'agents:read',
  params,
  success: { status: 200, schema: DraftChanges },
  errors: ['RESOURCE_NOT_FOUND'],
})

export const publishDraft = endpoint({
  method: 'POST',
  path: `${draft}/publish`,
  name: 'publishDraft',
  summary: 'Make the draft of an agent the live one',
  description:
    'Publishes exactly what `GET …/draft/changes` has shown under this `version`. If the draft or the live agent has been changed since, nothing happens (`VERSION_MISMATCH`). The versions before and after are kept, so that it can be undone; sources that were written for the draft and that it leaves out are deleted. Changes of actions and procedures need the scope actions:write, those and deletions of sources sources:write, and all of it actions:read.',
  scope: 'agents:write',
  params,
  body: Exact({ version: Type.String({ minLength: 1, maxLength: 100 }) }),
  success: { status: 200, schema: Success },
  errors: ['RESOURCE_NOT_FOUND', 'VERSION_MISMATCH'],
})

export const listVersions = endpoint({
  method: 'GET',
  path: versions,
  name: 'listVersions',
  summary: 'List the versions of an agent',
  description:
    'Newest first. One is kept of each publication and each roll back, and of what was found before it; at most 50. What is not versioned: the requests of actions, the texts of sources that are changed in place, and all other settings. Needs the scope actions:read, too.',
  scope: 'agents:read',
  params,
  query: Exact({ cursor: Type.Optional(Cursor), limit: Limit }),
  success: { status: 200, schema: Page(ListedVersion) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const readVersion = endpoint({
  method: 'GET',
  path: `${versions}/{agentVersionId}`,
  name: 'readVersion',
  summary: 'Show what a roll back to a version of an agent changes',
  description: 'Needs the scope actions:read, too.',
  scope: 'agents:read',
  params: versionParams,
  success: { status: 200, schema: AgentVersion },
})

export const restoreVersion = endpoint({
  method: 'POST',
  path: `${versions}/{agentVersionId}/restore`,
  name: 'restoreVersion',
  summary: 'Roll an agent back to a version',
  description:
    'Does exactly what `GET …/versions/{agentVersionId}` has shown under this `version`. If the live agent has been changed since, nothing happens (`VERSION_MISMATCH`). The state before is kept as a version itself. Actions, procedures and sources that the version does not have are disabled or left out, not deleted; those that have been deleted since do not come back. If the model is no longer in the catalogue, the current one is kept. A draft stays. Changes of actions and procedures need the scope actions:write, those of sources and the deletion of sources that no version needs any more sources:write, and all of it actions:read.',
  scope: 'agents:write',
  params: versionParams,
  body: Exact({ version: Type.String({ minLength: 1, maxLength: 100 }) }),
  success: { status: 200, schema: Success },
  errors: ['VERSION_MISMATCH'],
})
