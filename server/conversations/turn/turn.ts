import type { LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { RawBuilder } from 'kysely'
import type { Logger } from 'pino'
import type { Toolkit, ToolOutput } from '../../actions/tools/tool.ts'
import type { Toolkits } from '../../actions/tools/toolkits.ts'
import type { BuiltinInput } from '../../ai/built-in/input.ts'
import type { ResolvedModel } from '../../ai/calls/model-call.ts'
import type { ModelEntry } from '../../ai/catalogue/catalogue.ts'
import type { Models } from '../../ai/models.ts'
import type { Config } from '../../config.ts'
import type { Citations, PresentSources, StoredSource } from '../../knowledge/search/answering/citations.ts'
import type { FixedSource, Retrieved } from '../../knowledge/search/answering/retrieve.ts'
import type { Knowledge } from '../../knowledge/search/knowledge.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { AgentSnapshot, Guardrails } from '../../platform/db/tables/agents.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { AnswerOutcome, FinishReason } from '../../platform/db/tables/conversations.ts'
import type { BusinessHours } from '../../platform/db/tables/helpdesk.ts'
import type { ServiceProcess } from '../../platform/db/upkeep/processes.ts'
import type { KeyedRequest } from '../../platform/http/idempotency/idempotency.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import type { CustomerLanguage } from '../../platform/text/languages/customer-sentences.ts'
import type { Trial } from '../explanations/record-answer.ts'
import type { Customer } from '../prompt/build-prompt.ts'
import type { Call } from '../records/parts.ts'
import type { Replay } from '../records/present.ts'
import type { ConversationRow, Parent, TranscriptMessage } from '../records/queries.ts'
import type { GenerationIds, LiveGeneration } from '../stream/reading.ts'
import type { DeliverAnswer } from './end-turn.ts'
import type { Generations, Orphans } from './generations.ts'

/** What a turn is asked to answer. */
export type Ask =
  | { kind: 'message'; text: string }
  /** Continues from the results of the application's actions, or answers the message whose answer failed. */
  | { kind: 'continue' }
  /** Answers messages that the conversation already holds, as on channels, where messages are stored first. */
  | { kind: 'pending' }
  /** Replaces the assistant message with this id with a new answer. */
  | { kind: 'retry'; messageId: string }

export type ChatRequest = {
  account: { id: AccountId; plan: string }
  agent: ChatAgent
  ask: Ask
  /** The value for conversations.source if this turn starts the conversation. */
  source: string
  /** Which of the agent's channelInstructions and actions apply. */
  channel: string
  /** Whether the reply is spoken, so that the channel's instructions for voice apply. */
  isSpoken?: boolean
  /** The conversation to continue; undefined to start a new one, which needs a message. */
  conversationId?: string | undefined
  userId?: string | undefined
  parentConversationId?: string
  /** The caller's own name for the conversation that this turn starts. */
  externalId?: string
  /** The id of the contact whose conversation this turn starts. */
  contactId?: string | undefined
  /** The earlier messages, if the caller sends them; otherwise the stored ones are used. */
  history?: TranscriptMessage[]
  /** Whether nothing of the conversation is kept once the answer is sent. */
  transient?: boolean
  /** Whether the message accepts the offer of a person; stored messages say so themselves. */
  acceptsOffer?: boolean
  /** Set for a run of the playground, which costs nothing, stores nothing about customers, and is recorded. */
  trial?: Trial
  /** What actions return in a test by their names; any other one returns an error, and none is run. */
  mocks?: Readonly<Record<string, ToolOutput>>
  /** False where no application can run the agent's client actions; they are then not offered to the model. */
  runsClientActions?: boolean
  /** The request's Idempotency-Key, which is taken together with the generation. */
  idempotency: KeyedRequest | null
  /**
   * The failed generation that the key is bound to, which this turn replaces, with the id of its answer, which the client
   * may have been told.
   */
  insteadOf?: { generationId: string; messageId: string }
}

/** The agent's properties that a reply needs. */
export type ChatAgent = {
  id: string
  name: string
  instructions: string
  channelInstructions: Record<string, unknown> | null
  model: string
  temp: number
  creditLimit: number | null
  knowledgeVersion: number
  toolsVersion: number
  /** Whether prompts are kept with its answers for some days. */
  keepsPrompts: boolean
  /** Whether numbers of cards and accounts are taken out of what customers write before a model reads it. */
  redactsPayments: boolean
  guardrails: Guardrails
  /** The version that answers, if it is not the live one; its fields above are those of the version. */
  version?: AgentSnapshot
}

/** The part of a request that is stored with its start. */
export type StartRequest = Omit<ChatRequest, 'agent' | 'channel' | 'isSpoken' | 'runsClientActions'> & {
  agent: Pick<ChatAgent, 'id' | 'creditLimit' | 'toolsVersion' | 'guardrails' | 'version'>
  model: { id: string; credits: number; costsMoney: boolean }
}

/** What a model is told beside the words of a conversation. */
export type Surroundings = { customer: Customer; hours: BusinessHours | null }

/** What the start of a turn has stored and read. */
export type StartedTurn = {
  ids: GenerationIds
  /** The messages, oldest first, up to the one to answer. */
  transcript: TranscriptMessage[]
  /** The source whose answer the owner has fixed for the question. */
  fixed: FixedSource | null
  isFirst: boolean
  /** Where the conversation is held; see conversations.source. */
  source: string
  parent: Parent | null
  surroundings: Surroundings
  /** The summary of the messages up to a number, and the number of the answer; null where nothing can be left out. */
  summarised: { text: string | null; until: number; lastSeq: number } | null
  /** The citations of the message that a continuation extends. */
  citedBefore: StoredSource[]
}

/** A turn that has been started. */
export type Turn = {
  request: ChatRequest
  started: StartedTurn
  owner: AgentRef
  /** The text of the message to answer, or of all messages since the last answer. */
  question: string
  /** Null for the built-in responder, whose answers are not recorded. */
  record: Trial | null
  /** The model that answers; replaced when another takes over after a failure. */
  model: ResolvedModel
  /** The models that may still answer in its place, in order. */
  standIns: ResolvedModel[]
}

/** A turn that is being answered, and what it is answered with. */
export type Running = { ctx: TurnNeeds; turn: Turn; live: LiveGeneration }

/** Everything that the model reads. */
export type Prepared = {
  found: Retrieved
  /** The confidence of what was found; null when nothing was searched. */
  score: number | null
  toolkit: Toolkit
  /** Tells the provider which prompts begin alike; see `blockKey`. */
  cacheKey: string
  /** Returns the prompt as a model can read it: as much as fits, and nothing that only another one understands. */
  promptFor(model: ModelEntry): LanguageModelV4Prompt
  /** How many pictures of the customer this model is not shown, and whether it was to see them. */
  imagesFor(model: ModelEntry): { unseen: number; isTried: boolean }
  /** The tool that the first step has to call, when the customer asks for a person or has sent a picture that no model sees; else null. */
  mustCall: string | null
  /** The tool that passes the conversation to a person, if there is one. */
  escalate: string | null
  /** What else the built-in responder is told. */
  said: Pick<BuiltinInput, 'language' | 'areEmpty' | 'mayOffer' | 'handover'>
}

/** The result of a turn's steps, whether they finished or broke off. */
export type StepsResult = {
  /** See Prepared; null also before the search. */
  score: number | null
  finishReason: FinishReason
  outcome: AnswerOutcome | null
  /** The number of the forbidden topic that the model reported. */
  topic: number | null
  /** Returns what the model was given: everything that it read, except for what it wrote itself. */
  given: () => string
  /** See Prepared. */
  escalate: string | null
  /** Whether the answer may offer a person. */
  mayOffer: boolean
  /** Whether the customer has been told of a picture that the model was not shown. */
  isUnseen: boolean
  /** Whom the answer offers to the customer. */
  offer: 'person' | null
  /** Whether nothing was found in documents that are still being indexed. */
  isIndexing: boolean
  citations: Citations
  /** Tool calls that the application has to run. */
  waiting: Call[]
  /** The language of the service's own sentences to the customer. */
  language: CustomerLanguage
  /** What has to be sent back to the provider with the calls of the message, by their ids. */
  replay: Record<string, Replay>
  /** What the models have thought, for the team. */
  reasoning: string
  /** Whether calls that ran here, or were to run, may still be recorded as pending, because a statement failed. */
  hasPending: boolean
  /** Why the reply failed; null when it did not. */
  failure: { cause: unknown } | null
}

/** What a turn asks of and tells the ticket of its conversation, passed in because the help desk is a higher layer. */
type TicketReactions = {
  /** Returns a query for the hours in which the team of an agent answers. */
  hoursOf(agent: AgentRef): RawBuilder<BusinessHours | null>
  hasTicket(trx: Trx, accountId: AccountId, conversationId: string): Promise<boolean>
  /** Adds a customer's message to the ticket. */
  customerWrote(
    trx: Trx,
    conversation: ConversationRow,
    message: { messageId: string; text: string },
  ): Promise<void>
}

type Parts = AsyncIterable<LanguageModelV4StreamPart[]>

/** Records turns for a collector of traces. */
export type TurnTraces = {
  /** Records a turn that has ended. */
  turn(turn: Turn, live: LiveGeneration, result: StepsResult, startedAt: number): void
  /** Yields the parts of a call of a model, and records it when it ends. */
  call(
    turn: Turn,
    live: LiveGeneration,
    options: { maxOutputTokens?: number | undefined },
    parts: Parts,
  ): Parts
  /** Records a call of a tool that ran here. */
  tool(live: LiveGeneration, call: Call, ended: { startedAt: number; hasFailed: boolean }): void
}

/** What a turn needs of the context. */
export type TurnNeeds = TicketReactions & {
  db: Db
  log: Logger
  config: Config
  secrets: Secrets
  /** Returns the bytes of an attachment; null if it is gone. */
  readAttachment(ref: AgentRef, id: string): Promise<{ bytes: Uint8Array } | null>
  presentSources: PresentSources
  process: ServiceProcess
  models: Models
  knowledge: Knowledge
  toolkits: Toolkits
  generations: Generations
  orphans: Orphans
  deliverAnswer: DeliverAnswer
  traces: TurnTraces | null
}
