import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { makePdf } from '../test/fixtures/make-pdf.ts'
import { QUESTION_WORDS } from './random-text.ts'
import { prepare, start, stop } from './service.ts'

type PdfResult = {
  scenario: 'pdf'
  database: string
  pages: number
  fileMiB: number
  /** The time from the upload to the answer that cites the last page. */
  trainedSeconds: number
  answerMs: number
  /** The longest time for which other work of the service had to wait, during the training and for the first answer. */
  longestStall: { training: Stall; firstAnswer: Stall; deleting: Stall }
  memoryMiB: { before: number; peak: number }
  deleteMs: number
}

/** The longest time between two turns of the event loop: by the clock, and as processor time of this process. */
type Stall = { ms: number; cpuMs: number }

// Writes the longest stall since the last time to a file, on request.
const preload = (file: string): string =>
  `data:text/javascript,${encodeURIComponent(`
  import { monitorEventLoopDelay } from 'node:perf_hooks'
  import { renameSync, writeFileSync } from 'node:fs'
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  let before = process.threadCpuUsage()
  let longest = 0
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(before)
    longest = Math.max(longest, user + system)
    before = process.threadCpuUsage()
  }, 1).unref()
  process.on('SIGUSR2', () => {
    const stall = { ms: Math.round(loop.max / 1e6 - 1), cpuMs: Math.round(longest / 1e3) }
    writeFileSync('${file}.new', JSON.stringify(stall))
    renameSync('${file}.new', '${file}')
    loop.reset()
    longest = 0
  })`)}`

/**
 * Uploads a PDF of `pages` pages with `linesAPage` lines of text each, waits for its training, asks about it and
 * deletes it.
 */
export async function pdfScenario(
  server: string | null,
  pages: number,
  linesAPage: number,
): Promise<PdfResult> {
  const prepared = await prepare(server, 20)
  const stallFile = join(prepared.env.DATA_DIR ?? '', 'stall')
  const { url, child } = await start(['--import', preload(stallFile), 'server/main.ts'], prepared.env)
  const call = async (method: string, path: string, body?: FormData | string) => {
    const response = await fetch(`${url}/api/v2/agents/${prepared.agentId}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${prepared.keys[Math.floor(Math.random() * prepared.keys.length)]}`,
        ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
      },
      ...(body === undefined ? {} : { body }),
    })
    if (!response.ok) throw new Error(await response.text())
    // biome-ignore lint/suspicious/noExplicitAny: answers of several endpoints
    return response.json() as any
  }
  const bytes = pdfOf(pages, linesAPage)
  const form = new FormData()
  form.set('name', 'Manual')
  form.set('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), 'manual.pdf')

  await stallOf(child, stallFile)
  const before = memoryOf(child, 'VmRSS')
  const begun = performance.now()
  const { id } = await call('POST', '/sources', form)
  for (;;) {
    const { status, error } = await call('GET', `/sources/${id}`)
    if (status === 'trained') break
    if (status === 'failed') throw new Error(error)
    await wait(200)
  }
  const trainedSeconds = Math.round((performance.now() - begun) / 100) / 10
  const training = await stallOf(child, stallFile)
  const question = { message: `What is the code of device ${pages}?`, stream: false }
  const asked = performance.now()
  const { data } = await call('POST', '/chat', JSON.stringify(question))
  const answerMs = Math.round(performance.now() - asked)
  if (!data.parts[0].text.includes(codeOf(pages))) throw new Error(data.parts[0].text)
  const firstAnswer = await stallOf(child, stallFile)
  const peak = memoryOf(child, 'VmHWM')
  const asking = performance.now()
  await call('DELETE', `/sources/${id}`)
  const deleteMs = Math.round(performance.now() - asking)
  const deleting = await stallOf(child, stallFile)
  await stop(child)
  await prepared.remove()
  return {
    scenario: 'pdf',
    database: server ? 'PostgreSQL' : 'embedded',
    pages,
    fileMiB: Math.round((bytes.length / 1_048_576) * 10) / 10,
    trainedSeconds,
    answerMs,
    longestStall: { training, firstAnswer, deleting },
    memoryMiB: { before, peak },
    deleteMs,
  }
}

const codeOf = (page: number): string => `K${page * 7_919}`

function pdfOf(pages: number, linesAPage: number): Uint8Array {
  let at = 0
  const word = (): string => {
    at = (at * 31 + 17) % QUESTION_WORDS.length
    return QUESTION_WORDS[at]!
  }
  return makePdf(
    Array.from({ length: pages }, (_, index) => ({
      heading: `Chapter ${index + 1}`,
      lines: [
        `The code of device ${index + 1} is ${codeOf(index + 1)}.`,
        ...Array.from({ length: linesAPage }, () => `${Array.from({ length: 12 }, word).join(' ')}.`),
      ],
    })),
  )
}

/** Returns the longest stall since the last call. */
async function stallOf(child: ChildProcess, file: string): Promise<Stall> {
  rmSync(file, { force: true })
  child.kill('SIGUSR2')
  while (!existsSync(file)) await wait(5)
  return JSON.parse(readFileSync(file, 'utf8'))
}

function memoryOf({ pid }: ChildProcess, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024)
}
