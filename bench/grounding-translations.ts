/**
 * Tries the check of grounding on texts that nobody wrote for it: `node bench/grounding-translations.ts FOLDER [SKIPPED LANGUAGES] [--list]`,
 * where FOLDER
 * has XQuAD's files (github.com/google-deepmind/xquad). The sentences with digits of a text that people
 * translated are right answers where the English text is what was given. In the planted ones, one number is another of
 * as many digits, which stands in neither text. Which sentences are taken is decided by a hash.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ungroundedValues } from '../server/conversations/prompt/ungrounded-values.ts'

const [folder = ''] = process.argv.slice(2)
const flag = process.argv.at(-1)
const [skipped = '0', languages = 'ar,de,el,ro,tr,zh'] = process.argv
  .slice(2)
  .filter((given) => /^(\d+|[a-z]{2}(,[a-z]{2})*)$/.test(given))
const LANGUAGES = languages.split(',')
const SKIPPED = Number(skipped)
const RIGHT = 34
const PLANTED = 10

type Data = { data: { paragraphs: { context: string }[] }[] }
const contextsOf = (language: string): string[] =>
  (JSON.parse(readFileSync(join(folder, `xquad.${language}.json`), 'utf8')) as Data).data.flatMap(
    ({ paragraphs }) => paragraphs.map(({ context }) => context),
  )
const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Replaces one run of digits; null if no other number of its length is new. */
function planted(sentence: string, texts: string): { answer: string; value: string } | null {
  const runs = [...sentence.matchAll(/\d+/g)]
  const run = runs[Number.parseInt(hash(sentence).slice(0, 6), 16) % runs.length]
  if (!run) return null
  for (let salt = 0; salt < 50; salt++) {
    const made = BigInt(`0x${hash(`${sentence}${salt}`).slice(0, 15)}`)
      .toString()
      .slice(0, run[0].length)
    if (made.startsWith('0') || texts.includes(made)) continue
    const answer = sentence.slice(0, run.index) + made + sentence.slice(run.index + run[0].length)
    return { answer, value: made }
  }
  return null
}

const english = contextsOf('en')
const totals = { right: 0, marked: 0, planted: 0, found: 0 }
for (const language of LANGUAGES) {
  const one = { right: 0, marked: 0, planted: 0, found: 0 }
  const segmenter = new Intl.Segmenter(language, { granularity: 'sentence' })
  const sentences = contextsOf(language)
    .flatMap((text, at) =>
      [...segmenter.segment(text)].map(({ segment }) => ({
        sentence: segment.trim(),
        given: english[at] ?? '',
        texts: text + english[at],
      })),
    )
    .filter(({ sentence }) => /\d/.test(sentence) && sentence.length <= 400)
    .sort((a, b) => (hash(a.sentence) < hash(b.sentence) ? -1 : 1))
  for (const { sentence, given } of sentences.slice(SKIPPED, SKIPPED + RIGHT)) {
    const values = ungroundedValues(sentence, () => given)
    one.right++
    if (values.length > 0) one.marked++
    if (values.length > 0 && flag === '--list')
      console.log('marked', language, sentence, values, `\n  ${given}\n`)
  }
  for (const { sentence, given, texts } of sentences.slice(SKIPPED + RIGHT)) {
    if (one.planted === PLANTED) break
    const made = planted(sentence, texts)
    if (!made) continue
    const isFound = ungroundedValues(made.answer, () => given).some(
      ({ text }) => text.includes(made.value) || made.value.includes(text),
    )
    one.planted++
    if (isFound) one.found++
    else if (flag === '--list') console.log('missed', language, made, `\n  ${given}\n`)
  }
  console.log(language, one)
  for (const key of ['right', 'marked', 'planted', 'found'] as const) totals[key] += one[key]
}
const share = (part: number, all: number): string => (part / all).toFixed(3)
console.log({
  ...totals,
  foundShare: share(totals.found, totals.planted),
  markedShare: share(totals.marked, totals.right),
})
