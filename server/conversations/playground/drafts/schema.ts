import Type, { type Static } from 'typebox'
import { UpdateAction } from '../../../actions/definitions/action-schema.ts'
import { UpdateProcedure } from '../../../actions/procedures/procedure-schema.ts'
import { UpdateAgent } from '../../../agents/records/schema.ts'
import { NewQna, NewText, sourceTypes } from '../../../knowledge/sources/schema.ts'
import { Exact, IsoTime, Nullable, OneOf, Subset, TaggedUnion } from '../../../platform/http/contract.ts'

const Id = Type.String({ minLength: 1 })
const { instructions, channelInstructions, model, temp } = UpdateAgent.properties
const { enabled, description, channels } = UpdateAction.properties
const { trigger, steps } = UpdateProcedure.properties
const Actor = Nullable(Type.String({ description: '`member:<id>` or `key:<id>`' }))
const ChannelInstructions = Nullable(Type.Unsafe<Record<string, unknown>>({ type: 'object' }))

const DraftSource = Exact({
  id: Type.String(),
  name: Nullable(Type.String()),
  type: OneOf(sourceTypes),
  isLive: Type.Boolean({ description: 'Whether live answers use it' }),
  isIncluded: Type.Boolean({ description: 'Whether answers of the draft use it' }),
})

export const AgentDraft = Exact({
  isBegun: Type.Boolean({ description: 'false: there is no draft, and everything is as in the live agent' }),
  begunAt: Nullable(IsoTime),
  updatedAt: Nullable(IsoTime),
  updatedBy: Actor,
  instructions: Type.String(),
  channelInstructions: ChannelInstructions,
  model: Type.String(),
  temp: Type.Number(),
  actions: Type.Array(
    Exact({
      id: Type.String(),
      name: Type.String(),
      enabled: Type.Boolean(),
      description: Type.String(),
      channels: Nullable(Type.Array(Type.String())),
    }),
    { description: 'All actions of the agent' },
  ),
  procedures: Type.Array(
    Exact({
      id: Type.String(),
      name: Type.String(),
      enabled: Type.Boolean({
        description: 'A procedure that names an action which is missing or disabled is disabled with it',
      }),
      trigger: Type.String(),
      steps: Type.Array(Exact({ instruction: Type.String(), action: Nullable(Type.String()) })),
    }),
    { description: 'All procedures of the agent' },
  ),
  sources: Type.Array(DraftSource, {
    description: 'Those that the draft or the live agent leaves out; all others are in both',
  }),
  reading: Exact(
    { waiting: Type.Integer(), failed: Type.Integer() },
    { description: 'How many of these sources are not read yet, or could not be' },
  ),
})

/** What of a draft can be changed. */
export const draftFields = [
  'instructions',
  'channelInstructions',
  'model',
  'temp',
  'actions',
  'procedures',
  'sources',
] as const

export const UpdateDraft = Subset(
  Exact({
    instructions,
    channelInstructions,
    model,
    temp,
    actions: Type.Array(Exact({ id: Id, enabled, description, channels }), {
      maxItems: 100,
      description: 'Only those that change, by their ids, with the fields that change',
    }),
    procedures: Type.Array(Exact({ id: Id, enabled, trigger, steps }), {
      maxItems: 100,
      description: 'Only those that change, by their ids, with the fields that change',
    }),
    sources: Type.Array(Exact({ id: Id, isIncluded: Type.Boolean() }), {
      maxItems: 500,
      description: 'Only those that change',
    }),
  }),
)

export const NewDraftSource = Exact({
  source: TaggedUnion('type', [NewText, NewQna]),
  replaces: Type.Optional(
    Type.String({ minLength: 1, description: 'The id of a source that the draft leaves out instead' }),
  ),
})

export const DraftChange = Exact({
  what: OneOf(['agent', 'action', 'procedure', 'source']),
  id: Nullable(Type.String({ description: 'Of the action, procedure or source' })),
  name: Nullable(Type.String()),
  field: OneOf([
    'instructions',
    'channelInstructions',
    'model',
    'temp',
    'enabled',
    'description',
    'channels',
    'trigger',
    'steps',
    'isIncluded',
  ]),
  before: Type.Unknown(),
  after: Type.Unknown(),
})

export const DraftChanges = Exact({
  version: Type.String({ description: 'Names what would be published; `POST …/draft/publish` takes it' }),
  changes: Type.Array(DraftChange, { description: 'From the live agent to the draft' }),
  changedSince: Type.Array(DraftChange, {
    description: 'How the live agent has been changed since the draft was begun',
  }),
})

const version = {
  id: Type.String(),
  kind: OneOf(['published', 'restored', 'found'], {
    description: 'found: the live agent had been changed without a draft since the version before',
  }),
  changed: Type.Array(Type.String(), { description: 'What differs from the version before' }),
  actor: Actor,
  actorName: Nullable(Type.String({ description: 'null: the member or key is gone' })),
  isLive: Type.Boolean({ description: 'Whether the live agent is just like this version' }),
  createdAt: IsoTime,
}

export const ListedVersion = Exact(version)
export const AgentVersion = Exact({
  ...version,
  version: Type.String({
    description: 'Names what would be rolled back; `POST …/versions/{agentVersionId}/restore` takes it',
  }),
  changes: Type.Array(DraftChange, { description: 'From the live agent to what a roll back makes of it' }),
  missing: Type.Array(Type.String(), {
    description: 'Actions and procedures of the version that have been deleted since, and cannot come back',
  }),
  missingSources: Type.Integer({ description: 'The number of its sources that have been deleted since' }),
})

export type Change = Static<typeof DraftChange>
