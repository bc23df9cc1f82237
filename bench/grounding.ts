/** Prints how many planted errors the check of grounding finds, and how many right answers it marks. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ungroundedValues } from '../server/conversations/grounding/ungrounded-values.ts'

type Row = [document: string, right: string[], wrong: [answer: string, planted: string][]]
type Set_ = { company: string; language: string; answers: Row[] }

const here = import.meta.dirname
const textOf = (company: string, document: string): string => {
  const text = readFileSync(join(here, 'answers/companies', company, document), 'utf8')
  if (document.endsWith('.html')) return text.replace(/<[^>]+>/g, ' ').replace(/&nbsp;/g, ' ')
  const separator = text.split('\n', 1)[0]?.includes(';') ? ';' : ','
  return document.endsWith('.csv') ? text.replaceAll(separator, ' | ') : text
}

const totals = { right: 0, marked: 0, planted: 0, found: 0 }
for (const file of readdirSync(join(here, 'grounding')).filter((name) => name.endsWith('.json'))) {
  const { company, language, answers }: Set_ = JSON.parse(readFileSync(join(here, 'grounding', file), 'utf8'))
  const one = { right: 0, marked: 0, planted: 0, found: 0 }
  for (const [document, right, wrong] of answers) {
    const given = textOf(company, document)
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
