/** The texts that are put before a question and before a passage when they are embedded. */
export type Prefixes = { query: string; passage: string }

const NO_PREFIXES: Prefixes = { query: '', passage: '' }
const SENTENCE = 'Represent this sentence for searching relevant passages: '
const INSTRUCT =
  'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: '

/** The prefixes that the authors of the models document. The first pattern that matches a model's name applies. */
const KNOWN: readonly (readonly [name: RegExp, query: string, passage: string])[] = [
  [/\be5\b.*(?:mistral|instruct)/, INSTRUCT, ''],
  [/\be5\b/, 'query: ', 'passage: '],
  [/nomic-embed-(?:text|vision)/, 'search_query: ', 'search_document: '],
  [/\bbge-(?:small|base|large)-zh\b/, '为这个句子生成表示以用于检索相关文章：', ''],
  [/\bbge-(?:small|base|large)\b/, SENTENCE, ''],
  [/\bmxbai-embed-large\b/, SENTENCE, ''],
  [/\barctic-embed.*(?:v2|2\.0|2$)/, 'query: ', ''],
  [/\barctic-embed\b/, SENTENCE, ''],
  [/\bqwen3-embedding\b/, INSTRUCT, ''],
  [/\bembedding-?gemma\b/, 'task: search result | query: ', 'title: none | text: '],
]

/**
 * Returns the prefixes that a model of this name was trained with; empty ones for a model that is not known to need
 * any.
 */
export function prefixesOf(name: string): Prefixes {
  const [, query, passage] =
    KNOWN.find(([pattern]) => pattern.test(name.toLowerCase().replaceAll('_', '-'))) ?? []
  return query === undefined || passage === undefined ? NO_PREFIXES : { query, passage }
}
