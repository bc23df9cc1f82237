/**
 * Prints how many planted errors the check of grounding finds, and how many right answers it marks:
 * `node bench/grounding.ts [fresh|third] [--list]`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ungroundedValues } from '../server/conversations/prompt/ungrounded-values.ts'

type Given = string | { given: string }
type Row = [document: Given, right: string[], wrong: [answer: string, planted: string][]]
type Set_ = { company?: string; folder?: string; language: string; answers: Row[] }

const here = import.meta.dirname
const sets = join(here, 'grounding', ['fresh', 'third'].find((name) => process.argv.includes(name)) ?? '')
const textOf = (folder: string, document: Given): string => {
  if (typeof document === 'object') return document.given
  const text = readFileSync(join(here, folder, document), 'utf8')
  if (document.endsWith('.html')) return text.replace(/<[^>]+>/g, ' ').replace(/&nbsp;/g, ' ')
  const separator = text.split('\n', 1)[0]?.includes(';') ? ';' : ','
  return document.endsWith('.csv') ? text.replaceAll(separator, ' | ') : text
}

const totals = { right: 0, marked: 0, planted: 0, found: 0 }
for (const file of readdirSync(sets).filter((name) => name.endsWith('.json'))) {
  const set: Set_ = JSON.parse(readFileSync(join(sets, file), 'utf8'))
  const { company, language, answers, folder = `answers/companies/${company}` } = set
  const one = { right: 0, marked: 0, planted: 0, found: 0 }
  for (const [document, right, wrong] of answers) {
    const given = textOf(folder, document)
    for (const answer of right) {
      const values = ungroundedValues(answer, () => given)
      one.right++
      if (values.length > 0) one.marked++
      if (values.length > 0 && process.argv.includes('--list'))
        console.log('marked', language, answer, values)
    }
    for (const [answer, planted] of wrong) {
      const isFound = ungroundedValues(answer, () => given).some(
        ({ text }) => text.includes(planted) || planted.includes(text),
      )
      one.planted++
      if (isFound) one.found++
      if (!isFound && process.argv.includes('--list')) console.log('missed', language, answer, planted)
    }
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
