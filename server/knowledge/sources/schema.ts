import Type from 'typebox'
import { Exact, IsoTime, Nullable, OneOf, Subset, TaggedUnion } from '../../platform/http/contract.ts'
import { refusePatterns } from '../crawl/site/refuse-patterns.ts'
import { GAP_KINDS } from '../documents/gaps.ts'
import { CHARSETS } from '../documents/text/charsets.ts'
import { refusePageId } from '../notion/pages/page-id.ts'
import { refuseSourceUrl } from './source-url.ts'

/** The size limit of an uploaded file. */
export const MAX_FILE_BYTES = 20 * 1_048_576
/** The size limit of a JSON body. A character of a text may take several bytes when it is escaped. */
export const MAX_JSON_BYTES = 8 * 1_048_576

export const sourceTypes = ['text', 'qna', 'link', 'file', 'notionPage', 'ticket'] as const
export const linkTypes = ['individual', 'sitemap', 'crawl'] as const

export const Warning = Exact({
  kind: OneOf(GAP_KINDS, {
    description:
      '`pages` without text, `letters` of a font without a mapping, `charts` and diagrams, embedded `objects`, `formulas` without a value, `cells` beyond a limit, `words` that are left out if they are more than a few, `layout`: words whose spaces and order are unsure',
  }),
  place: Nullable(Type.String({ description: 'Where, such as "pages 3–5, 9"' })),
  count: Type.Integer({ minimum: 1 }),
  message: Type.String({ description: 'The same and what can be done, for a person' }),
})
export const LeftOut = Exact({
  place: Type.String({
    description: 'Which part of the page, such as "navigation", "on most pages" or the heading above it',
  }),
  words: Type.Integer({ minimum: 1 }),
})
const LeftOuts = Type.Optional(
  Type.Array(LeftOut, {
    description:
      'Parts of a web page that are left out: what is marked as navigation, header, footer or aside, and what most pages of its site repeat',
  }),
)
const Warnings = Type.Optional(
  Type.Array(Warning, { description: 'What is not in the text, if it was read only in part' }),
)

export const Source = Exact({
  id: Type.String(),
  type: OneOf(sourceTypes),
  name: Nullable(Type.String({ description: 'For links, the URL' })),
  size: Type.Integer({ minimum: 0, description: 'Bytes of training text' }),
  createdAt: IsoTime,
  updatedAt: IsoTime,
  status: OneOf(['untrained', 'trained', 'updated', 'failed', 'toBeDeleted', 'deleted'], {
    description:
      '`untrained` and `updated`: being processed. `trained`: live. `toBeDeleted`: no longer used in answers; deletion is pending.',
  }),
  error: Nullable(Type.String({ description: 'Why it failed' })),
  metadata: Nullable(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'Set for links, files and corrections. `charset` of a text file is the character encoding in which it was read',
      },
    ),
  ),
  warnings: Warnings,
  leftOut: LeftOuts,
  fixed: Type.Optional(
    Type.Literal(true, { description: 'Its answer is given to its questions before a model is called' }),
  ),
  unpublished: Type.Optional(
    Type.Literal(true, {
      description: 'Live answers leave it out: only the draft or an earlier version of the agent has it',
    }),
  ),
  wholePage: Type.Optional(
    Type.Boolean({ description: 'true: nothing of its pages is left out. Set with PUT' }),
  ),
})

const Name = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S', refusal: 'Must not be blank.' })
const Content = Type.String({
  minLength: 1,
  maxLength: 1_048_576,
  pattern: '\\S',
  refusal: 'Must hold some text.',
})
export const Question = Type.String({
  minLength: 1,
  maxLength: 2_000,
  pattern: '\\S',
  refusal: 'Must not be blank.',
})
const Questions = Type.Array(Question, {
  minItems: 1,
  maxItems: 50,
})
export const Answer = Type.String({
  minLength: 1,
  maxLength: 100_000,
  pattern: '\\S',
  refusal: 'Must hold some text.',
})
const Fixed = Type.Boolean({
  description:
    'For questions and answers: whether exactly this answer is given to these questions, before a model is called. Questions are equal if their words are',
})
const Patterns = Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
  maxItems: 100,
  description: 'Regular expressions (RE2 syntax) that are searched for in a path and its query',
})

export const NewText = Exact({ type: Type.Literal('text'), name: Name, content: Content })
export const NewQna = Exact({
  type: Type.Literal('qna'),
  name: Name,
  questions: Questions,
  answer: Answer,
  fixed: Type.Optional(Fixed),
})

export const CreateSource = TaggedUnion('type', [
  NewText,
  NewQna,
  Exact(
    {
      type: Type.Literal('link'),
      url: Type.String({ minLength: 1, maxLength: 2_048, rule: refuseSourceUrl }),
      linkType: OneOf(linkTypes),
      excludePaths: Type.Optional(Patterns),
      includeOnlyPaths: Type.Optional(Patterns),
      slowScraping: Type.Optional(Type.Boolean()),
      allowHttp: Type.Optional(
        Type.Boolean({
          description:
            'For a URL that was typed without https:// or http://: send it with https://. If no connection to it can be made when it is first read, the same URL with http:// is tried, and the one that answers becomes the URL of the source.',
        }),
      ),
    },
    { rule: refusePatterns },
  ),
  Exact({
    type: Type.Literal('notionPage'),
    pageId: Type.String({
      minLength: 1,
      maxLength: 500,
      rule: refusePageId,
      description: 'An id from the list of connected pages',
    }),
    name: Type.Optional(Name),
  }),
])

/** Which of these a source takes follows from its type. */
export const UpdateSource = Subset(
  Exact({
    name: Name,
    content: Content,
    questions: Questions,
    answer: Answer,
    fixed: Fixed,
    linkType: OneOf(linkTypes, { description: 'A website may change between crawl and sitemap' }),
    excludePaths: Patterns,
    includeOnlyPaths: Patterns,
    slowScraping: Type.Boolean(),
    wholePage: Type.Boolean({
      description: 'For web pages, websites and html files: true puts back what `leftOut` lists',
    }),
    charset: Nullable(
      OneOf(CHARSETS, {
        description:
          'For txt, md, csv and html files: the character encoding in which the file is read. null: it is recognised.',
      }),
    ),
  }),
  { rule: refusePatterns },
)

export const FileFields = Exact({ name: Name })
export const FileUpdateFields = Subset(FileFields)

const Count = Exact({ count: Type.Integer(), size: Type.Integer() })

export const SourcesSummary = Exact({
  texts: Count,
  qnas: Count,
  links: Count,
  files: Count,
  notionPages: Count,
  tickets: Count,
  shouldRetrain: Type.Boolean({ description: 'Always false: sources are trained automatically' }),
})

export const pageStatuses = ['included', 'excluded', 'failed', 'pending'] as const

/** A page of a crawl or sitemap source. */
export const Page = Exact({
  id: Type.String(),
  url: Type.String(),
  title: Nullable(Type.String()),
  status: OneOf(pageStatuses, { description: 'The agent answers from included pages' }),
  error: Nullable(Type.String({ description: 'Why it is excluded or failed, for a person' })),
  size: Type.Integer({ minimum: 0, description: 'Bytes of training text' }),
  fetchedAt: Nullable(IsoTime),
  warnings: Warnings,
  leftOut: LeftOuts,
})

export const UpdatePage = Exact({
  excluded: Type.Boolean({ description: 'Whether the page is left out of answers; takes effect at once' }),
})
