import type { JSONValue } from '@ai-sdk/provider'
import type { Tool } from '../../actions/tools/tool.ts'
import { givenPassages, givenText } from '../../knowledge/search/answering/given-passages.ts'
import type { AgentKnowledge, Passage } from '../../knowledge/search/knowledge.ts'
import { recordOf } from '../../platform/unknown-values.ts'
import { asData } from './prompt/blocks.ts'
import type { TurnNeeds } from './turn.ts'

const NAME = 'search_documents'
const MAX_SEARCHES = 3
const MAX_QUERY_LENGTH = 400
const PASSAGES = 6

/**
 * Returns a tool with which a model searches the documents in its own words while it answers. What it finds is added to
 * `passages`, whose numbers are those that the model cites. Like a procedure, it is no action of the agent: nobody sees
 * its calls.
 */
export function searchTool(
  { db, knowledge }: Pick<TurnNeeds, 'db' | 'knowledge'>,
  agent: AgentKnowledge,
  passages: Passage[],
  tokens: number,
): Tool {
  let searches = 0
  return {
    name: NAME,
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
      const found = await knowledge.search(agent, [queryIn(input)], { limit: PASSAGES })
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
