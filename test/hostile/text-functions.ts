import { readAnswer } from '../../server/actions/http/read-answer.ts'
import { piecesOf } from '../../server/actions/http/template.ts'
import { fillUrl } from '../../server/actions/http/url-template.ts'
import { answer } from '../../server/ai/built-in/answer.ts'
import { wordGroups } from '../../server/ai/built-in/builtin-model.ts'
import type { BuiltinInput } from '../../server/ai/built-in/input.ts'
import { redact } from '../../server/ai/failures/model-failure.ts'
import { isByProgram, listsOf } from '../../server/channels/email/inbound/automatic-mail.ts'
import { isForwarded } from '../../server/channels/email/inbound/known-clients.ts'
import { readBounce } from '../../server/channels/email/parse/bounce.ts'
import { readMail } from '../../server/channels/email/parse/read-mail.ts'
import { judgeByWords } from '../../server/channels/inbound/judge-spam.ts'
import { readWord } from '../../server/channels/messaging/inbound/opt-out-words.ts'
import { splitText } from '../../server/channels/messaging/outbound/split-text.ts'
import { phoneOf } from '../../server/channels/messaging/templates/send-template.ts'
import { formatText } from '../../server/channels/messaging/whatsapp/format-text.ts'
import { readWebhook } from '../../server/channels/messaging/whatsapp/read-webhook.ts'
import { safeName } from '../../server/conversations/attachments/attachments.ts'
import { readVerdict } from '../../server/conversations/insights/analysis/verdict.ts'
import { tidyName } from '../../server/conversations/insights/topics/topic-key.ts'
import { buildPrompt } from '../../server/conversations/prompt/build-prompt.ts'
import { talkOf } from '../../server/conversations/prompt/prepare.ts'
import { titleFromWords } from '../../server/conversations/records/queries.ts'
import { MAX_CHARACTERS } from '../../server/conversations/search/index/load-documents.ts'
import { createStemmers } from '../../server/conversations/search/index/stemmers.ts'
import { tokensOfOne } from '../../server/conversations/search/index/text-tokens.ts'
import { wordsVector } from '../../server/conversations/search/index/words-vector.ts'
import { parseQuery } from '../../server/conversations/search/query/parse-query.ts'
import { bestStretch, highlight, hitsIn } from '../../server/conversations/search/query/snippet.ts'
import { mentionsIn } from '../../server/inbox/messages/add-note.ts'
import { renderMarkdown, showsNothing } from '../../server/inbox/messages/render/render-markdown.ts'
import { refuseUnknownVariables } from '../../server/inbox/settings/fill-variables.ts'
import { beginningOf, removePersonal } from '../../server/inbox/solved-tickets/remove-personal.ts'
import { pageLinks } from '../../server/knowledge/crawl/pages/page-links.ts'
import { parseSitemap } from '../../server/knowledge/crawl/site/parse-sitemap.ts'
import { pathPattern } from '../../server/knowledge/crawl/site/path-pattern.ts'
import { MAX_ROBOTS, parseRobots } from '../../server/knowledge/crawl/site/robots.ts'
import { pageUrl } from '../../server/knowledge/crawl/site/site.ts'
import { chunkSections } from '../../server/knowledge/documents/chunk/chunk-sections.ts'
import { extractDocument } from '../../server/knowledge/documents/extract-document.ts'
import type { DocumentType } from '../../server/knowledge/documents/extracted-document.ts'
import { decodeText } from '../../server/knowledge/documents/text/decode-text.ts'
import { withoutMarkers } from '../../server/knowledge/search/answering/citations.ts'
import { sourceUrl } from '../../server/knowledge/sources/source-url.ts'
import { normalPhone } from '../../server/people/records/phone-number.ts'
import { storable, storableJson, unstorable } from '../../server/platform/http/bodies/storable.ts'
import { isDate } from '../../server/platform/http/input/dates.ts'
import { decodeCursor } from '../../server/platform/http/pagination.ts'
import { describeError } from '../../server/platform/log.ts'
import { mailAddress, oneLine } from '../../server/platform/mail/mail-address.ts'
import { createStemmer, guessLanguage } from '../../server/platform/text/languages/language.ts'
import { escapeHtml, textAsHtml } from '../../server/platform/text/safety/escape-html.ts'
import { LinkFilter, linksTo, withoutForeignLinks } from '../../server/platform/text/safety/foreign-links.ts'
import { linearPattern } from '../../server/platform/text/safety/linear-pattern.ts'
import { foldText, splitSentences, splitWords, visibleText } from '../../server/platform/text/words/words.ts'
import { parseMarkdown } from '../../widget/frame/parse-markdown.ts'
import { promptParts } from '../prompt-parts.ts'

type TextFunction = {
  run(text: string): unknown
  /** The maximum length of the text in characters, if the callers limit it. */
  most?: number
  /** Set if the function runs in a thread that is terminated when it takes too long. */
  apart?: true
}

const K = 1_024
/** The maximum length of chat messages, mails and replies of the team. Messages of messaging channels are cut to it. */
const MAX_MESSAGE_LENGTH = 100_000
/** The maximum size of the input of all calls of an answer; see `limitsOf`. */
const MAX_TOOL_INPUT = 256_000
const stem = createStemmer()
const stemmers = createStemmers()
const asked: BuiltinInput = {
  question: 'What is it?',
  language: 'en',
  passages: [],
  isFound: true,
  isIndexing: false,
  hasKnownWord: true,
  areEmpty: false,
  mayOffer: true,
}
const members = [{ name: 'Ann', email: 'ann@example.com' }]
const chunk = (text: string) => ({
  id: '1',
  sourceId: '1',
  sourceName: 'a',
  url: null,
  headingPath: ['a'],
  page: null,
  text,
})
const document = (type: DocumentType) => (text: string) =>
  extractDocument({ type, bytes: Buffer.from(text), filename: `a.${type}` })
const quietly =
  (run: (text: string) => unknown) =>
  (text: string): unknown => {
    try {
      return run(text)
    } catch {
      return undefined
    }
  }
const mail = (head: string) => (text: string) => readMail(Buffer.from(`${head}${text}`))
const found = async (query: string, text: string) => {
  const hits = await hitsIn(parseQuery(query, stemmers), await tokensOfOne(text, stemmers))
  return highlight(text, hits, bestStretch(hits))
}

/** The functions of the service, and of the chat in the browser, that take text from outside. */
export const TEXT_FUNCTIONS: Record<string, TextFunction> = {
  // Text that is shown, sent or stored.
  renderMarkdown: { run: renderMarkdown },
  showsNothing: { run: showsNothing },
  textAsHtml: { run: textAsHtml },
  escapeHtml: { run: escapeHtml },
  'parseMarkdown (widget)': { run: parseMarkdown },
  'formatText (WhatsApp)': {
    run: (text) => formatText(text, { dropCitations: true }),
    most: MAX_MESSAGE_LENGTH,
  },
  'splitText (WhatsApp)': { run: (text) => splitText(text, 4_096) },
  storable: { run: storable },
  'storableJson of a string': { run: (text) => storableJson({ text }) },
  'unstorable of a string': { run: (text) => unstorable({ text }) },
  titleFromWords: { run: titleFromWords },
  oneLine: { run: (text) => oneLine(text, 200) },
  safeName: { run: safeName },
  refuseUnknownVariables: { run: quietly(refuseUnknownVariables) },
  mentionsIn: { run: (text) => mentionsIn(text, members) },
  withoutForeignLinks: {
    run: (text) => withoutForeignLinks(text, linksTo(['a.b'])),
    most: MAX_MESSAGE_LENGTH,
  },
  'LinkFilter, in small pieces': {
    run(text) {
      const filter = new LinkFilter(linksTo(['a.b']))
      for (let at = 0; at < text.length; at += 8) filter.add(text.slice(at, at + 8))
      return filter.end()
    },
    most: 100_000,
  },
  // Input and output of models.
  withoutMarkers: { run: withoutMarkers },
  buildPrompt: {
    run: (text) =>
      buildPrompt(
        promptParts(
          text,
          {
            passages: [{ ...chunk(text), chunkId: '1', score: 1, headingPath: [text] }],
            customer: { name: text, country: null, locale: null, page: text, attributes: { [text]: text } },
          },
          { earlier: [text] },
        ),
      ),
    most: MAX_MESSAGE_LENGTH,
  },
  readVerdict: { run: (text) => readVerdict(text, [{ name: 'a', aliases: [] }], 3) },
  judgeByWords: { run: (text) => judgeByWords('casino, win', text) },
  'judgeByWords, the rule': { run: (text) => judgeByWords(text, 'casino'), most: 2_000 },
  wordGroups: { run: wordGroups },
  talkOf: { run: (text) => talkOf([{ role: 'user', parts: [{ type: 'text', text }] }]) },
  'answer, the question': { run: (question) => answer({ ...asked, question }) },
  'answer, a passage': { run: (text) => answer({ ...asked, passages: [{ headingPath: [text], text }] }) },
  readAnswer: {
    run: (text) => readAnswer({ status: 200, headers: {}, body: Buffer.from(text) } as never, []),
  },
  'piecesOf (template)': { run: piecesOf },
  'fillUrl (a value)': {
    run: quietly((text) => fillUrl('https://a.b/{{x}}?y={{x}}', () => text)),
    most: MAX_TOOL_INPUT,
  },
  redact: { run: (text) => redact(text, ['secret', 'other']) },
  describeError: { run: (text) => describeError(new Error(text)) },
  // Words, sentences, languages, questions.
  foldText: { run: foldText, most: MAX_MESSAGE_LENGTH },
  splitWords: { run: splitWords, most: MAX_MESSAGE_LENGTH },
  guessLanguage: { run: guessLanguage },
  'stem, German': { run: (text) => stem(text, 'de') },
  visibleText: { run: visibleText, most: 20 * K },
  'splitSentences, English': { run: (text) => splitSentences(text, 'en'), most: 20 * K },
  'splitSentences, German': { run: (text) => splitSentences(text, 'de'), most: 20 * K },
  'tidyName (topic)': { run: tidyName, most: 4_000 },
  removePersonal: {
    run: (text) =>
      removePersonal(beginningOf(text, 4 * 20_000), { names: ['Ann Miller'], others: ['5551234'] }),
  },
  // The search of conversations and tickets.
  'parseQuery (search)': { run: (text) => parseQuery(text, stemmers), most: 1_000 },
  'wordsVector (search)': {
    run: (text) => wordsVector('a', [text], stemmers, false),
    most: MAX_CHARACTERS,
  },
  'snippet (search), as many words as a query may have': {
    run: (text) => found(text.slice(-1_000), text),
    most: MAX_MESSAGE_LENGTH,
  },
  'snippet (search)': { run: (text) => found('a the "b c"', text), most: MAX_MESSAGE_LENGTH },
  // Mail, addresses, numbers, dates.
  'readMail, the text': { run: mail('From: a@b.co\r\nSubject: Hi\r\n\r\n'), apart: true },
  'readMail, HTML': { run: mail('From: a@b.co\r\nContent-Type: text/html\r\n\r\n'), apart: true },
  'readMail, a header': { run: mail('From: a@b.co\r\nSubject: '), apart: true },
  'readMail, the sender': { run: mail('From: '), apart: true },
  'readMail, everything': { run: mail(''), apart: true },
  readBounce: {
    run: (text) =>
      readBounce('multipart/report', [
        { name: 'a', mediaType: 'message/delivery-status', bytes: Buffer.from(text) },
        { name: 'b', mediaType: 'message/rfc822', bytes: Buffer.from(text) },
      ]),
    apart: true,
  },
  isByProgram: { run: (text) => isByProgram([text], () => [text], text), apart: true },
  listsOf: { run: (text) => listsOf(() => [text], true) },
  isForwarded: { run: isForwarded },
  mailAddress: { run: mailAddress },
  normalPhone: { run: quietly(normalPhone), most: 10 * K },
  phoneOf: { run: phoneOf, most: 10 * K },
  'readWord (opt-out)': { run: readWord },
  'readWebhook (WhatsApp)': {
    run: (text) =>
      readWebhook(
        { object: text, entry: [{ changes: [{ field: text, value: { messages: [text] } }] }] },
        new Date(),
      ),
  },
  isDate: { run: isDate },
  decodeCursor: { run: quietly((text) => decodeCursor(text, 'print')) },
  // Websites and documents.
  sourceUrl: { run: quietly(sourceUrl) },
  pageUrl: { run: quietly((text) => pageUrl(text, 'https://a.b/')) },
  parseRobots: { run: (text) => parseRobots(text, 'parley'), most: MAX_ROBOTS },
  'parseRobots, a rule': {
    run: (text) =>
      parseRobots(`user-agent: *\ndisallow: ${text}`, 'parley').isAllowed(new URL('https://a.b/x')),
    most: MAX_ROBOTS,
  },
  parseSitemap: { run: (text) => parseSitemap(text, 10_000) },
  'pathPattern, the text': {
    run: (text) =>
      pathPattern('/a/*/b*').matches(new URL('https://a.b/x') && (`https://a.b/${text}` as never)),
    most: 2_000,
  },
  linearPattern: { run: quietly((text) => linearPattern(text).test('aaaa')) },
  pageLinks: { run: (text) => pageLinks(text, 'https://a.b/') },
  decodeText: { run: (text) => decodeText(Buffer.from(text)) },
  chunkSections: { run: (text) => chunkSections([{ headingPath: [], page: null, text }]), apart: true },
  'extractDocument, text': { run: document('txt'), apart: true },
  'extractDocument, Markdown': { run: document('md'), apart: true },
  'extractDocument, CSV': { run: document('csv'), apart: true },
  'extractDocument, HTML': { run: document('html'), apart: true },
}
