import { sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import { estimateTokens } from '../../../platform/text/languages/language.ts'
import { areRows } from '../../../platform/text/rows/named-rows.ts'
import { splitWords } from '../../../platform/text/words/words.ts'
import type { AgentKnowledge } from '../knowledge.ts'
import type { Passage, Piece } from '../search-result.ts'

/** A chunk of the same section of the same document. */
export type Neighbour = Piece & { ordinal: number }

/** The chunks around a passage, by their ordinals; the passage itself is among them. */
type Around = ReadonlyMap<number, Neighbour>
type Section = { own: number; around: Around }

/** How far a list is followed before and after a passage. */
const FARTHEST = 6
/** The share of the tokens that one list may take. */
const LIST_SHARE = 0.5

/**
 * Returns what a model is given of the passages found for a question, best first, in up to `tokens`. What a better one
 * says already is left out. A list, table or code that was cut is given whole if it fits, and what is left is filled
 * with the neighbours of the passages in their sections. A neighbour belongs to the passage that it was added to.
 */
export async function givenPassages(
  db: Db,
  agent: AgentKnowledge,
  passages: readonly Passage[],
  tokens: number,
): Promise<Passage[]> {
  const said = distinctPassages(passages)
  const sections = await readSections(
    db,
    agent,
    said.map(({ chunkId }) => chunkId),
  )
  return completePassages(said, sections, tokens)
}

/** The number of words in a run. */
const RUN = 3
/** A passage whose runs of words stand in a better one to this share is a near-duplicate of it. */
const SAME = 0.9

/**
 * Leaves out passages that add nothing to a better one: all of their words stand there, in nearly the same order. One
 * other word or number may be the answer, so what merely looks alike stays.
 */
export function distinctPassages(passages: readonly Passage[]): Passage[] {
  const kept: { passage: Passage; words: Set<string>; runs: Set<string> }[] = []
  for (const passage of passages) {
    const { headingPath, questions = [], text } = passage
    const spoken = splitWords([headingPath.at(-1) ?? '', ...questions, text].join('\n'))
    const runs = new Set(spoken.map((_, at) => spoken.slice(at, at + RUN).join(' ')))
    const isSaid = kept.some(
      (better) =>
        spoken.every((word) => better.words.has(word)) &&
        [...runs].filter((run) => better.runs.has(run)).length >= SAME * runs.size,
    )
    if (!isSaid) kept.push({ passage, words: new Set(spoken), runs })
  }
  return kept.map(({ passage }) => passage)
}

/** Reads the sections that these chunks belong to, by the chunks' ids, as far as they are near. */
async function readSections(
  db: Db,
  { id: agentId, accountId }: AgentKnowledge,
  chunkIds: readonly string[],
): Promise<Map<string, Section>> {
  if (chunkIds.length === 0) return new Map()
  const near = sql`
    select own.id as own, own.ordinal as "ownOrdinal", near.id as "chunkId", near.ordinal, near.text, near.page,
      near.anchor
    from own join chunks as near on near.account_id = ${accountId} and near.agent_id = ${agentId}
      and near.source_id = own.source_id and near.heading_path = own.heading_path
      and near.ordinal between own.ordinal - ${FARTHEST}::int and own.ordinal + ${FARTHEST}::int
      and near.version <= own.live_version and (near.retired_in is null or near.retired_in > own.live_version)
      and not exists (
        select from passage_choices as chosen where chosen.account_id = ${accountId}
          and chosen.source_id = near.source_id and chosen.vector_key = near.vector_key
          and chosen.question is null)`
  const { rows } = await sql<
    Omit<Neighbour, 'anchor'> & { own: string; ownOrdinal: number; anchor: string | null }
  >`
    with own as materialized (
      select c.id, c.source_id, c.page_id, c.ordinal, c.heading_path, s.live_version
      from chunks as c join sources as s on s.account_id = ${accountId} and s.id = c.source_id
      where c.account_id = ${accountId} and c.agent_id = ${agentId} and c.id = any(${[...chunkIds]}::uuid[]))
    ${near} and near.page_id = own.page_id where own.page_id is not null
    union all ${near} and near.page_id is null where own.page_id is null`.execute(db)
  const ofChunk = Map.groupBy(rows, ({ own }) => own)
  return new Map(
    [...ofChunk].map(([id, near]) => {
      const around = near.map(
        ({ chunkId, ordinal, text, page, anchor }) =>
          [ordinal, { chunkId, ordinal, text, page, ...(anchor === null ? {} : { anchor }) }] as const,
      )
      return [id, { own: near[0]?.ownOrdinal ?? 0, around: new Map(around) }]
    }),
  )
}

/** Fills up to `tokens` with passages, best first, the lists that they are part of, and then their neighbours. */
export function completePassages(
  passages: readonly Passage[],
  sections: ReadonlyMap<string, Section>,
  tokens: number,
): Passage[] {
  const ids = new Set(passages.map(({ chunkId }) => chunkId))
  const given: { passage: Passage; section: Section | undefined; from: number; to: number }[] = []
  const used = new Set<string>()
  let left = tokens
  for (const passage of passages) {
    if (used.has(passage.chunkId)) continue
    const near = sections.get(passage.chunkId)
    // It may have been excluded a moment ago.
    const section = near?.around.has(near.own) ? near : undefined
    const place = section?.own ?? 0
    const cost = estimateTokens(titleOf(passage) + passage.text)
    // Something is given in any case.
    if (cost > left && given.length > 0) continue
    left -= cost
    used.add(passage.chunkId)
    const list = section ? listAround(section) : { from: place, to: place }
    const others = section ? piecesOf(section, list).filter(({ chunkId }) => chunkId !== passage.chunkId) : []
    const more = costOf(others)
    const isWhole =
      place - list.from < FARTHEST &&
      list.to - place < FARTHEST &&
      !others.some(({ chunkId }) => used.has(chunkId))
    if (!isWhole || more > Math.min(left, LIST_SHARE * tokens)) {
      given.push({ passage, section, from: place, to: place })
      continue
    }
    left -= more
    for (const { chunkId } of others) used.add(chunkId)
    given.push({ passage, section, ...list })
  }
  for (const one of given) {
    for (const at of [one.to + 1, one.from - 1]) {
      const neighbour = one.section?.around.get(at)
      if (!neighbour || used.has(neighbour.chunkId) || ids.has(neighbour.chunkId)) continue
      const cost = estimateTokens(neighbour.text)
      if (cost > left) continue
      left -= cost
      used.add(neighbour.chunkId)
      one.from = Math.min(one.from, at)
      one.to = Math.max(one.to, at)
    }
  }
  return given.map(({ passage, section, from, to }) =>
    section && from < to ? { ...passage, pieces: piecesOf(section, { from, to }) } : passage,
  )
}

const titleOf = ({ sourceName, headingPath, questions = [] }: Passage): string =>
  [sourceName ?? '', ...headingPath, ...questions].join(' ')

const costOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { text }) => sum + estimateTokens(text), 0)

type Range = { from: number; to: number }

const piecesOf = ({ around }: Section, { from, to }: Range): Piece[] =>
  Array.from({ length: to - from + 1 }, (_, at) => around.get(from + at) ?? [])
    .flat()
    .map(({ ordinal: _, ...piece }) => piece)

/** Returns the chunks over which the list, table or code of a section's own chunk continues. */
function listAround({ own, around }: Section): Range {
  const goesOn = (at: number): boolean => {
    const [before, after] = [around.get(at), around.get(at + 1)]
    return before !== undefined && after !== undefined && isCutInside(before.text, after.text)
  }
  let [from, to] = [own, own]
  while (goesOn(to)) to++
  while (goesOn(from - 1)) from--
  return { from, to }
}

const ITEM = /^\s*(?:[-*+•‣▪—–]|\(?\d{1,3}[.)]|[a-z]\))\s/
const FENCE = '```'
const ENDS_SENTENCE = /[.!?…。！？؟۔।][\p{Pe}\p{Pf}"']{0,3}$/u
const LEADS_ON = /[:：](?:\*\*)?$/

/** Tells whether a list, table or code continues from one chunk in the next. */
function isCutInside(before: string, after: string): boolean {
  if (before.endsWith(FENCE) || after.startsWith(FENCE)) return isCutInCode(before, after)
  const last = before.slice(before.lastIndexOf('\n') + 1)
  const [first = ''] = withoutRepetition(before, after).trimStart().split('\n', 1)
  return (ITEM.test(last) && ITEM.test(first)) || areRows([last, first])
}

/** A cut ends the code with a fence, and begins it again with one that names no language. */
const isCutInCode = (before: string, after: string): boolean =>
  before.endsWith(`\n${FENCE}`) && after.startsWith(`${FENCE}\n`)

/** Removes what a chunk repeats from the one before it: its last sentences, or the introduction of its list. */
function withoutRepetition(before: string, after: string): string {
  const [lead = ''] = after.split('\n', 1)
  if (LEADS_ON.test(lead) && `\n${before}\n`.includes(`\n${lead}\n`)) return after.slice(lead.length)
  for (let length = Math.min(before.length, after.length); length > 0; length--) {
    const begin = after.slice(0, length)
    if (ENDS_SENTENCE.test(begin) && before.endsWith(begin)) return after.slice(length)
  }
  return after
}

/** Returns the text of a passage that a model is given. */
export function givenText({ text, pieces }: Passage): string {
  if (!pieces) return text
  return pieces
    .map((piece) => piece.text)
    .reduce((before, after) => {
      if (isCutInCode(before, after))
        return `${before.slice(0, -FENCE.length)}${after.slice(FENCE.length + 1)}`
      const rest = withoutRepetition(before, after)
      if (rest.length < after.length && !LEADS_ON.test(after.split('\n', 1).join())) return before + rest
      return `${before}${isCutInside(before, after) ? '\n' : '\n\n'}${rest.trimStart()}`
    })
}

/** Returns what the workspace shows of a passage. */
export const describePassage = (passage: Passage) => {
  const { sourceId, sourceName, url, headingPath, page, text, score } = passage
  return { sourceId, sourceName, url, headingPath, page, text, score }
}
