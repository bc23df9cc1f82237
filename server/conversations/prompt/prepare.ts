import type { JSONValue, LanguageModelV4FilePart, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { fileTypeFromBuffer } from 'file-type'
import type { Tool, Toolkit } from '../../actions/tools/tool.ts'
import { mocked, withoutCustomers } from '../../actions/tools/without-customers.ts'
import { CHANNEL_NAMES } from '../../agents/settings/channel-names.ts'
import type { Handover } from '../../ai/built-in/input.ts'
import type { Asker } from '../../ai/calls/call-model.ts'
import type { ModelEntry } from '../../ai/catalogue/catalogue.ts'
import { givenPassages, givenText } from '../../knowledge/search/answering/given-passages.ts'
import {
  askedIn,
  passageOfFixed,
  retrieve,
  type TalkMessage,
} from '../../knowledge/search/answering/retrieve.ts'
import type { AgentKnowledge } from '../../knowledge/search/knowledge.ts'
import { NOTHING_FOUND, type Passage } from '../../knowledge/search/search-result.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { AttachmentNote } from '../../platform/db/tables/attachments.ts'
import {
  CUSTOMER_SENTENCES,
  type CustomerLanguage,
  isCustomerLanguage,
} from '../../platform/text/languages/customer-sentences.ts'
import { guessLanguage, type Language } from '../../platform/text/languages/language.ts'
import { recordOf } from '../../platform/unknown-values.ts'
import { textOf } from '../records/parts.ts'
import { metadataOf } from '../records/present.ts'
import type { TranscriptMessage } from '../records/queries.ts'
import type { LiveGeneration } from '../stream/reading.ts'
import { assign } from '../turn/ask-model.ts'
import { ungroundedRule } from '../turn/finish.ts'
import { timeLines } from '../turn/plan-turn.ts'
import type { ChatRequest, Prepared, Turn, TurnNeeds } from '../turn/turn.ts'
import { asData, blockKey, buildPrompt, formatFor, type PromptParts, ratioIn } from './build-prompt.ts'
import { topicRules } from './outcome-report.ts'
import { summariseParent } from './titles-and-summaries.ts'

/** Searches for the passages of the reply, and prepares its tools and its prompt. */
export async function prepare(ctx: TurnNeeds, turn: Turn, signal: AbortSignal): Promise<Prepared> {
  const { request, started, owner, model } = turn
  const { agent } = request
  const { ids, transcript, isFirst, parent, surroundings } = started
  const place = { ...owner, conversationId: ids.conversationId }
  const knowledge = knowledgeOf(request)
  const isBuiltin = model.entry.provider === 'builtin'
  const passageTokens = model.entry.passageTokens / ratioIn(transcript, model.entry.id)
  const talk = talkOf(transcript)
  const [found, toolkit, parentSummary, language, images] = await Promise.all([
    retrieve(ctx, knowledge, { asker: askerOf(turn), model, talk, signal }).then(async (all) =>
      // The built-in responder quotes passages as they were found.
      isBuiltin
        ? all
        : { ...all, passages: await givenPassages(ctx.db, knowledge, all.passages, passageTokens) },
    ),
    toolkitOf(ctx, request, ids.conversationId),
    parent && isFirst && !isBuiltin
      ? summariseParent(ctx, model, place, parent, signal)
      : (parent?.summary ?? null),
    maySaySomething(ctx, turn)
      ? languageFor(talk, () => ctx.knowledge.languages(knowledge))
      : ('en' as const),
    imagesFor(ctx, turn, signal),
  ])
  turn.record?.noteFound(found)
  const tools = [...toolkit.tools]
  if (model.entry.searches && agent.knowledgeVersion > 0) {
    const search = searchTool(ctx, knowledge, found.passages, passageTokens)
    if (tools.every(({ name }) => name !== search.name)) tools.push(search)
  }
  const areEmpty = found.passages.length === 0 && (await ctx.knowledge.isEmpty(knowledge))
  const score = areEmpty || found.question === null || found.isSmallTalk ? null : found.confidence
  const escalate = toolkit.tools.find(({ type }) => type === 'escalate')
  const isAccepted = request.acceptsOffer || acceptsOffer(transcript)
  // What a message without words shows or means, only a person can tell.
  const isWanted = isAccepted || found.question === null
  // A mail has no button, so the question goes to the team at once.
  const isMail = request.channel === CHANNEL_NAMES.email.settings
  const when = isWanted ? 'asked' : isMail ? 'not_found' : null
  const handover = escalate && when ? handoverTo(escalate.name, transcript, when) : null
  const cacheKey = blockKey(ctx.secrets.key.secret, ids.conversationId)
  const asked = transcript.findLast(({ role }) => role === 'user')
  const parts: Omit<PromptParts, 'beside' | 'model'> = {
    rules: {
      instructions: agent.instructions,
      channelInstructions: instructionsFor(request),
      forbidden: topicRules(agent.guardrails.forbiddenTopics, escalate?.name ?? null),
      format: formatFor(request.channel, request.isSpoken ?? false),
      procedures: toolkit.procedures,
      hasTools: tools.length > 0,
      offersPerson: escalate !== undefined,
      hasDocuments: agent.knowledgeVersion > 0,
    },
    key: cacheKey,
    earlier: [parentSummary, started.summarised?.text ?? null],
    transcript,
  }
  const imagesOf = ({ vision }: ModelEntry): Images => (vision ? images : unseenIn(images))
  const promptFor = (entry: ModelEntry): LanguageModelV4Prompt => {
    const shown = imagesOf(entry)
    const company = [
      ...timeLines(surroundings.hours, asked?.created_at ?? new Date()),
      toolkit.running,
      unseenLine(shown.unseen, escalate?.name ?? null),
    ].filter((line) => line !== null)
    const { customer } = surroundings
    const beside = { company, customer, passages: found.passages, images: shown.seen }
    return buildPrompt({ ...parts, beside, model: entry })
  }
  // The built-in responder answers the words; the picture goes to the team with its answer.
  const isUnseen = !isBuiltin && imagesOf(model.entry).unseen > 0
  return {
    found,
    score,
    toolkit: { ...toolkit, tools },
    cacheKey,
    promptFor,
    imagesFor: imagesOf,
    mustCall: isAccepted || isUnseen ? (escalate?.name ?? null) : null,
    escalate: escalate?.name ?? null,
    said: {
      language,
      areEmpty,
      mayOffer: escalate !== undefined && !isMail,
      handover,
    },
  }
}

/** What is searched for the reply. */
const knowledgeOf = ({ account, agent, trial }: ChatRequest): AgentKnowledge => ({
  id: agent.id,
  accountId: account.id,
  knowledgeVersion: agent.knowledgeVersion,
  sourceIds: agent.version?.sources,
  isTrial: trial !== undefined,
})

/** On whose behalf a model reads the question. */
const askerOf = ({ request, started, owner }: Turn): Asker => ({
  ...owner,
  conversationId: started.ids.conversationId,
  generationId: started.ids.id,
  purpose: request.trial ? 'playground' : 'understanding',
})

/** Whether the service itself may say a sentence to the customer, which has to be in their language. */
const maySaySomething = ({ config }: TurnNeeds, turn: Turn): boolean =>
  turn.model.entry.provider === 'builtin' ||
  config.builtinFallback ||
  ungroundedRule(turn) === 'hold' ||
  picturesOf(askedMessages(turn.started.transcript)).length > 0

/** Returns the pictures of what is asked, if the model, or one that may answer in its place, sees. */
async function imagesFor(
  ctx: TurnNeeds,
  { request, started, owner, model, standIns }: Turn,
  signal: AbortSignal,
): Promise<Images> {
  const pictures = picturesOf(askedMessages(started.transcript))
  const mayBeSeen = [model, ...standIns].some(({ entry }) => entry.vision)
  // A picture of a card has the number that its owner wants taken out.
  if (pictures.length === 0 || !mayBeSeen || request.agent.redactsPayments) return notRead(pictures)
  return readImages(ctx, owner, pictures, signal)
}

async function toolkitOf(
  { toolkits }: TurnNeeds,
  { account, agent, channel, runsClientActions = true, trial, mocks }: ChatRequest,
  conversationId: string,
): Promise<Toolkit> {
  const { id: agentId, toolsVersion, version } = agent
  const who = { accountId: account.id, agentId, toolsVersion, version }
  const toolkit = await toolkits.forAgent(who, channel, conversationId)
  if (mocks) return { ...toolkit, tools: toolkit.tools.map((tool) => mocked(tool, mocks)) }
  if (trial) return { ...toolkit, tools: toolkit.tools.map(withoutCustomers) }
  return runsClientActions ? toolkit : { ...toolkit, tools: toolkit.tools.filter(({ run }) => run !== null) }
}

function instructionsFor({ agent, channel, isSpoken = false }: ChatRequest): string | null {
  const own = agent.channelInstructions?.[channel]
  if (typeof own === 'string') return own
  const { chat = null, voice = null } = (own ?? {}) as { chat?: string; voice?: string }
  return isSpoken ? (voice ?? chat) : chat
}

/** Returns whether one of the messages since the agent's last one accepts an offer. */
function acceptsOffer(transcript: readonly TranscriptMessage[]): boolean {
  const asked = transcript.findLastIndex(({ role }) => role === 'user') + 1
  const from = transcript.slice(0, asked).findLastIndex(({ role }) => role === 'assistant') + 1
  return transcript.slice(from, asked).some((said) => metadataOf(said).accepts !== undefined)
}

/** The most messages that are answered together. */
const MAX_TOGETHER = 5

/** Returns the messages up to the customer's newest. An answer that waits for an action may follow it. */
const untilAsked = (transcript: readonly TranscriptMessage[]): readonly TranscriptMessage[] =>
  transcript.slice(0, transcript.findLastIndex(({ role }) => role === 'user') + 1)

/**
 * Returns what the customer asks, as one text: the messages since the agent's last one or, when that one is to be
 * continued, since the one before it.
 */
export const askedText = (transcript: readonly TranscriptMessage[]): string =>
  askedMessages(transcript).map(textOf).join('\n')

function askedMessages(transcript: readonly TranscriptMessage[]): readonly TranscriptMessage[] {
  const until = untilAsked(transcript)
  const from = until.findLastIndex(({ role }) => role === 'assistant') + 1
  return until.slice(from).slice(-MAX_TOGETHER)
}

/** Returns a conversation up to the message to answer as the search reads it. */
export const talkOf = (transcript: readonly TranscriptMessage[]): TalkMessage[] =>
  untilAsked(transcript).map((said) => {
    const text = textOf(said)
    return { role: said.role, text: said.role === 'user' ? withoutNotes(text) : text }
  })

/** Matches a line that a channel adds, such as the name of a file, and where a mail showed a picture. */
const NOTES = /^\[.+\]$|\[cid:[^\]\n]{0,500}\]/gm
const SIGNATURE = /^-- ?$/m

/** Removes what the customer did not write as words: names of files, places of pictures and a mail's signature. */
function withoutNotes(text: string): string {
  const end = SIGNATURE.exec(text)?.index ?? text.length
  return text.slice(0, end).replace(NOTES, '').trim()
}

/**
 * Returns the language in which the customer is told what no document says: that of their message, else of what they
 * wrote before, else of the documents; English if it is unknown or has no sentences.
 */
export async function languageFor(
  talk: readonly TalkMessage[],
  documents: () => Promise<Language[]>,
): Promise<CustomerLanguage> {
  const written = talk.filter(({ role }) => role === 'user').map(({ text }) => text)
  const guesses = [written.at(-1) ?? '', written.join('\n')].map(guessLanguage)
  const told = guesses.find((one) => one !== 'other') ?? (await documents())[0] ?? 'en'
  return isCustomerLanguage(told) ? told : 'en'
}

const MAX_SUBJECT_LENGTH = 120
const MAX_MESSAGES = 5

/** Returns the call of the escalation action. */
function handoverTo(
  tool: string,
  transcript: readonly TranscriptMessage[],
  when: Handover['when'],
): Handover {
  const written = transcript.filter(({ role }) => role === 'user').map((said) => textOf(said).trim())
  // What it is about is usually in the message before the wish for a person.
  const about = (when === 'asked' ? written.at(-2) : null) ?? written.at(-1) ?? ''
  const reason = when === 'asked' ? 'A person was asked for' : 'No answer was found in the documents'
  const subject = about.replace(/\s+/g, ' ').slice(0, MAX_SUBJECT_LENGTH).toWellFormed() || reason
  const summary = `${reason}. The last messages:\n${written
    .slice(-MAX_MESSAGES)
    .map((text) => `> ${text.slice(0, 1_000).toWellFormed()}`)
    .join('\n')}`
  return { tool, input: { subject, summary }, when }
}

/**
 * Gives the turn to the built-in responder, at its price, if the owner has fixed the answer to what is asked, and returns
 * what it quotes; null if there is no such answer.
 */
export async function prepareFixed(
  ctx: TurnNeeds,
  turn: Turn,
  live: LiveGeneration,
): Promise<Prepared | null> {
  const { request, started, record } = turn
  const builtin = ctx.models.resolve('builtin')
  // The results of an action are told by the model that called it.
  if (!builtin || request.ask.kind === 'continue') return null
  if (request.acceptsOffer || acceptsOffer(started.transcript)) return null
  // A picture may ask something else than the words beside it.
  if (notRead(picturesOf(askedMessages(started.transcript))).all > 0) return null
  if (!started.fixed) return null
  const { question } = askedIn(talkOf(started.transcript))
  if (turn.model.entry.provider !== 'builtin') {
    await assign(ctx, turn, live, builtin.entry)
    turn.model = builtin
  }
  const found = {
    ...NOTHING_FOUND,
    passages: [passageOfFixed(started.fixed)],
    confidence: 1,
    isFound: true,
    hasKnownWord: true,
    question,
    about: null,
  }
  record?.noteFound(found)
  return {
    found,
    score: 1,
    toolkit: { tools: [], procedures: null, running: null },
    // Nothing is asked that a provider could cache.
    cacheKey: 'none',
    promptFor: () => [{ role: 'user', content: [{ type: 'text', text: question }] }],
    imagesFor: () => notRead([]),
    mustCall: null,
    escalate: null,
    said: {
      language: 'en',
      areEmpty: false,
      mayOffer: false,
      handover: null,
    },
  }
}

const SEARCH = 'search_documents'
const MAX_SEARCHES = 3
const MAX_QUERY_LENGTH = 400
const PASSAGES_OF_SEARCH = 6

/**
 * Returns a tool with which a model searches the documents in its own words while it answers. What it finds is added to
 * `passages`, whose numbers are those that the model cites. Like a procedure, it is no action of the agent: nobody sees
 * its calls.
 */
function searchTool(
  { db, knowledge }: Pick<TurnNeeds, 'db' | 'knowledge'>,
  agent: AgentKnowledge,
  passages: Passage[],
  tokens: number,
): Tool {
  let searches = 0
  return {
    name: SEARCH,
    type: 'procedure',
    description:
      'Searches the documents of the company. Use it when the passages that you were given do not hold the answer and other words, or a part of the question, may find it.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'A short search, in the language of the documents' },
      },
      required: ['query'],
      additionalProperties: false,
    },
    refuse: (input) => (queryIn(input) === '' ? 'query must be a text of what to search for.' : null),
    async run(input) {
      if (++searches > MAX_SEARCHES)
        return { status: 'error', error: 'Nothing more can be searched: answer from what was found.' }
      const found = await knowledge.search(agent, [queryIn(input)], { limit: PASSAGES_OF_SEARCH })
      const isNew = ({ chunkId }: Passage): boolean =>
        passages.every((known) => !chunksOf(known).includes(chunkId))
      const given = await givenPassages(db, agent, found.passages.filter(isNew), tokens)
      const first = passages.length + 1
      passages.push(...given)
      if (given.length === 0) return { status: 'success', data: 'Nothing else was found.' }
      return { status: 'success', data: given.map((passage, at) => described(passage, first + at)) }
    },
  }
}

const chunksOf = ({ chunkId, pieces = [] }: Passage): string[] => [
  chunkId,
  ...pieces.map((piece) => piece.chunkId),
]

const queryIn = (input: unknown): string =>
  String(recordOf(input).query ?? '')
    .trim()
    .slice(0, MAX_QUERY_LENGTH)
    .toWellFormed()

function described(passage: Passage, number: number): JSONValue {
  const { sourceName, headingPath, questions = [], url } = passage
  return {
    number,
    title: asData([sourceName, ...headingPath].filter(Boolean).join(' › ')),
    ...(url === null ? {} : { url: asData(url) }),
    text: asData([...questions, givenText(passage)].join('\n')),
  }
}

/** The most images of one question. */
const MAX_IMAGES = 4
/** Models see no more than this many pixels a side. */
const SIDE = 1_568
/** Smaller pictures of a mail are logos and the like. */
const MIN_SIDE_IN_MAIL = 200
/** Pictures of telephones have up to this many pixels. */
const MAX_PIXELS = 64_000_000
/** The most bytes of one image that is sent; a JPEG of this size rarely has more than a quarter of them. */
const MAX_BYTES = 2_000_000
const QUALITY = 80
const DECODE_SECONDS = 10
/** What is decoded. Others are either documents that may refer to others, or cannot be read here. */
const READABLE = new Set([
  'image/png',
  'image/apng',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/tiff',
])

/** The pictures of a question: those that a model which sees is shown, and how many it is not, of `all`. */
type Images = { seen: LanguageModelV4FilePart[]; unseen: number; all: number; isTried: boolean }

/** Returns what a model is shown that does not see. */
const unseenIn = ({ all }: Images): Images => ({ seen: [], unseen: all, all, isTried: false })

/** Returns the notes of the pictures that belong to messages, newest last. */
const picturesOf = (messages: readonly TranscriptMessage[]): AttachmentNote[] =>
  messages.flatMap((said) =>
    (metadataOf(said).attachments ?? []).filter(({ type }) => type.startsWith('image/')),
  )

/** Returns pictures that no model may see. Logos in mails, which are pictures as well, concern nobody. */
function notRead(notes: readonly AttachmentNote[]): Images {
  const all = notes.filter(({ isPartOfMail }) => !isPartOfMail).length
  return { seen: [], unseen: all, all, isTried: false }
}

/** Reads pictures and converts them for models: the newest ones, small enough, without metadata, as JPEG. */
export async function readImages(
  { readAttachment, generations }: Pick<TurnNeeds, 'readAttachment' | 'generations'>,
  ref: AgentRef,
  notes: readonly AttachmentNote[],
  signal: AbortSignal,
): Promise<Images> {
  const { all } = notRead(notes)
  const images: Images = { seen: [], unseen: all, all, isTried: true }
  for (const note of notes.slice(-MAX_IMAGES)) {
    const leave = await generations.decoding.enter(ref.accountId, signal)
    const image = await readAttachment(ref, note.id)
      .then((file) => file && jpegOf(file.bytes, note.isPartOfMail ? MIN_SIDE_IN_MAIL : 1))
      .finally(leave)
    if (!image) continue
    images.seen.push({
      type: 'file',
      mediaType: 'image/jpeg',
      data: { type: 'data', data: image },
      // OpenAI's own types ask for it.
      providerOptions: { openai: { imageDetail: 'auto' } },
    })
    if (!note.isPartOfMail) images.unseen--
  }
  return images
}

/** Returns the picture as a JPEG without metadata; null if it cannot be read, or is smaller than `minSide`. */
async function jpegOf(bytes: Uint8Array, minSide: number): Promise<Uint8Array | null> {
  const type = (await fileTypeFromBuffer(bytes))?.mime ?? ''
  if (!READABLE.has(type)) return null
  // It is native code that most processes never need, so it is loaded on first use.
  const { default: sharp } = await import('sharp')
  try {
    const picture = sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
    const { width, height } = await picture.metadata()
    if (Math.min(width, height) < minSide) return null
    const jpeg = await picture
      .autoOrient()
      .resize(SIDE, SIDE, { fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#fff' })
      .jpeg({ quality: QUALITY })
      .timeout({ seconds: DECODE_SECONDS })
      .toBuffer()
    return jpeg.byteLength <= MAX_BYTES ? jpeg : null
  } catch {
    return null
  }
}

/** Tells a model of the pictures that it cannot see. */
function unseenLine(unseen: number, escalate: string | null): string | null {
  if (unseen === 0) return null
  const what = unseen === 1 ? 'a picture' : `${unseen} pictures`
  const told = 'The customer is told so in a sentence after your answer, so do not say it.'
  const then = escalate
    ? `Pass the conversation to the team with ${escalate}, which looks at it. ${told}`
    : `${told} Answer what their words ask.`
  return `The message of the customer has ${what} that you cannot see. ${then}`
}

/** Tells the customer, in the service's own words, and that the team looks at it where there is one to pass it to. */
export function unseenSentence(
  language: CustomerLanguage,
  { isTried }: Pick<Images, 'isTried'>,
  hasTeam: boolean,
): string {
  const { unseenPicture, unreadPicture, teamTold } = CUSTOMER_SENTENCES[language]
  const why = isTried ? unreadPicture : unseenPicture
  return hasTeam ? `${why} ${teamTold}` : why
}
