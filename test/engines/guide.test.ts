import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { onPostgres } from '../database.ts'
import { type MailServer, startMailServer } from '../fakes/mail-server.ts'
import { type MessagingServer, startMessagingServer } from '../fakes/messaging-server.ts'
import { fakeTemplate } from '../fakes/messaging-wire.ts'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { type NotionServer, startNotionServer } from '../fakes/notion-server.ts'
import { block, fakePage } from '../fakes/notion-wire.ts'
import type { ModelRequest, Reply } from '../fakes/reply.ts'
import { startWebSite, type WebSite, page as webPage } from '../fakes/web-site.ts'
import { type Home, newHome, type Running, spawnService } from '../spawn-service.ts'

const root = resolve(import.meta.dirname, '../..')
const guide = join(root, 'docs/guide')
/** All pages; those that the README mentions first come first. */
const pages = ['README.md', 'docs/guide/quickstart.md'].concat(
  readdirSync(guide)
    .filter((name) => name.endsWith('.md') && name !== 'quickstart.md')
    .map((name) => `docs/guide/${name}`),
)

/** The blocks that are not run here, each with the reason. Every entry occurs on its page exactly once. */
const notRun: Record<string, [begins: string, reason: string][]> = {
  'README.md': [['npm ci && npm start', 'is the start of this test and this suite']],
  'docs/guide/use-chat.md': [
    ['npm install ai', 'use-chat.smoke.test.ts copies, compiles and runs these files'],
  ],
}

/** `section` is the number of headings before the block. */
type Block = { language: string; text: string; section: number }

const blocksOf = (markdown: string): Block[] =>
  [...markdown.matchAll(/^( *)```(\w+)\n([\s\S]*?)^\1```$/gm)].map(
    ({ 1: indent = '', 2: language = '', 3: text = '', index }) => ({
      language,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      section: (markdown.slice(0, index).match(/^#+ /gm) ?? []).length,
    }),
  )

type Run = { commands: string; printed: object | null }

/** Returns the shell blocks that a reader types, each with the output that the page prints after it. */
function runsOf(page: string): Run[] {
  const blocks = blocksOf(readFileSync(join(root, page), 'utf8'))
  const left = notRun[page] ?? []
  for (const [begins] of left)
    assert.equal(blocks.filter(({ text }) => text.startsWith(begins)).length, 1, `${page}: ${begins}`)
  return blocks.flatMap(({ language, text, section }, n) => {
    if (language !== 'sh' || left.some(([begins]) => text.startsWith(begins))) return []
    const next = blocks[n + 1]
    return [
      {
        commands: text,
        printed: next?.language === 'json' && next.section === section ? JSON.parse(next.text) : null,
      },
    ]
  })
}

/** Asserts that every member that the page prints is present, with a value of the same type. */
function assertShape(actual: unknown, printed: unknown, place: string): void {
  if (Array.isArray(printed)) {
    assert.ok(Array.isArray(actual), place)
    for (const [n, one] of printed.entries()) assertShape(actual[n], one, `${place}[${n}]`)
  } else if (typeof printed === 'object' && printed !== null) {
    assert.ok(typeof actual === 'object' && actual !== null, place)
    for (const [name, value] of Object.entries(printed))
      assertShape((actual as Record<string, unknown>)[name], value, `${place}.${name}`)
  } else assert.equal(typeof actual, typeof printed, place)
}

/** Returns the reply of a model that looks up an order once and otherwise says something. */
function reply({ body }: ModelRequest): Reply {
  const text = JSON.stringify(body)
  const canLook = /get_order/.test(JSON.stringify(body.tools ?? '')) && !/"role":"tool"/.test(text)
  return canLook
    ? { toolCalls: [{ id: 'call-1', name: 'get_order', input: { number: '1042' } }] }
    : { tokens: ['It', ' is', ' on', ' its', ' way.'] }
}

describe('every command of the README and the guide runs as it is printed', {
  skip: onPostgres() && 'The commands are the same there: it runs when TEST_DATABASE_URL is not set.',
}, () => {
  let home: Home
  let service: Running
  let folder: string
  let models: ModelServer
  let messaging: MessagingServer
  let mail: MailServer
  let notion: NotionServer
  let site: WebSite
  /** The values that a page leaves to its reader, by the first name on the line marked with `# yours`. */
  let yours: Record<string, string>

  before(async () => {
    models = await startModelServer()
    models.otherwise(reply)
    messaging = await startMessagingServer()
    messaging.accounts.set('111', {
      token: 'token-1',
      numbers: [{ id: 'n-1', phone: '+15550001111', name: 'Shop' }],
      templates: [fakeTemplate('order_sent', 'Your order {{1}} is on its way.')],
    })
    mail = await startMailServer()
    notion = await startNotionServer()
    const handbook = fakePage('Handbook', [block('paragraph', 'We are open from nine to five.')])
    notion.pages.set(handbook.id, handbook)
    site = await startWebSite()
    const text = 'Kettles can be sent back within thirty days of the purchase, and we pay the postage.'
    site.pages.set('/help', webPage('Help', text, ['/help/opening']))
    site.pages.set('/help/opening', webPage('Opening hours', `We are open from nine to five. ${text}`))
    site.pages.set('/sitemap.xml', {
      headers: { 'content-type': 'application/xml' },
      body: `<urlset><url><loc>${site.url}/help</loc></url></urlset>`,
    })
    home = await newHome({ empty: true, embedded: true })
    folder = mkdtempSync(join(tmpdir(), 'parley-guide-'))
    const catalogue = join(folder, 'models.json')
    const model = {
      id: 'fake',
      provider: 'openai-compatible',
      name: 'fake-model',
      baseUrl: `${models.url}/v1`,
    }
    writeFileSync(catalogue, JSON.stringify({ auto: 'builtin', models: [model] }))
    service = await spawnService({
      ...home.env,
      SEED_DEMO: '1',
      MODELS_FILE: catalogue,
      ALLOWED_PRIVATE_HOSTS: [messaging.url, notion.url]
        .map((url) => new URL(url).host)
        .concat(`127.0.0.1:${mail.port}`, new URL(site.url).host)
        .join(','),
    })
    yours = {
      ACCOUNT: `ACCOUNT=111 TOKEN=token-1 APP_SECRET=app-secret SERVER=${messaging.url}`,
      SMTP_HOST: `SMTP_HOST=127.0.0.1 SMTP_PORT=${mail.port} SECURITY=none PASSWORD=secret`,
      SITE: `SITE=${site.url}`,
      TOKEN: `TOKEN=secret-token PAGE_ID=${handbook.id} SERVER=${notion.url}`,
    }
    // A rejected request ends the page. By default, curl treats it as a success.
    const curl = execFileSync('sh', ['-c', 'command -v curl'], { encoding: 'utf8' }).trim()
    mkdirSync(join(folder, 'bin'))
    writeFileSync(
      join(folder, 'bin/curl'),
      `#!/bin/sh\nexec ${curl} --fail-with-body --silent --show-error "$@"\n`,
    )
    chmodSync(join(folder, 'bin/curl'), 0o755)
  })
  after(async () => {
    await service?.kill('SIGKILL')
    await Promise.all([models?.close(), messaging?.close(), mail?.close(), notion?.close(), site?.close()])
    await home?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  for (const page of pages)
    test(page, async () => {
      const runs = runsOf(page)
      if (runs.length === 0) return
      const needsModel = /need a model/.test(readFileSync(join(root, page), 'utf8'))
      const outputs = await runPage(basename(page), runs, needsModel)
      for (const [n, { commands, printed }] of runs.entries()) {
        const output = outputs[n] ?? ''
        if (printed) assertShape(JSON.parse(output), printed, 'output')
        if (/^curl -s?N .*\/chat /m.test(commands))
          assert.match(output, /event: finish\n[\s\S]*data: \[DONE\]\n/)
        assert.doesNotMatch(output, /event: error\n|"finishReason":"error"/)
      }
    })

  /** Runs the blocks of a page one after another in one shell and returns the output of each. */
  async function runPage(name: string, runs: Run[], needsModel: boolean): Promise<string[]> {
    const place = join(folder, name)
    mkdirSync(place)
    const lines = ['set -euo pipefail']
    for (const [n, { commands }] of runs.entries()) {
      writeFileSync(join(place, `${n}.sh`), asTyped(commands))
      lines.push(`. ${place}/${n}.sh > ${place}/${n}.out 2> ${place}/${n}.err`)
      if (n === 0 && needsModel)
        lines.push(
          `curl -X PUT $API/agents/$AGENT -H "Authorization: Bearer $PARLEY_KEY" -H 'Content-Type: application/json' -d '{"model": "fake"}' > /dev/null`,
        )
    }
    const { code, stderr } = await runBash(lines.join('\n'))
    const read = (file: string): string => {
      try {
        return readFileSync(join(place, file), 'utf8')
      } catch {
        return ''
      }
    }
    const last = runs.findLastIndex((_run, n) => readdirSync(place).includes(`${n}.out`))
    assert.equal(
      code,
      0,
      `${name}:\n${runs[last]?.commands}\n${read(`${last}.out`)}\n${read(`${last}.err`)}\n${stderr}`,
    )
    return runs.map((_run, n) => read(`${n}.out`))
  }

  /** Returns the commands with the address of this service and the reader's own values. */
  function asTyped(commands: string): string {
    return commands
      .replaceAll('http://127.0.0.1:8080', service.url)
      .replaceAll(/^(\w+)=.* # yours$/gm, (_line, name: string) => yours[name] ?? assert.fail(name))
  }

  function runBash(script: string): Promise<{ code: number; stderr: string }> {
    const { PATH, HOME, TMPDIR } = process.env
    const key = /API key \(shown this once\): (\S+)/.exec(service.output)?.[1]
    const demo = /widget\/(\S+)/.exec(service.output)?.[1]
    const env = {
      ...home.env,
      PATH: `${join(folder, 'bin')}:${PATH}`,
      HOME,
      TMPDIR,
      // One page assumes that the reader has kept both values; the others set what they use.
      ...(script.includes('use-chat.md') ? { PARLEY_KEY: key, AGENT_ID: demo } : {}),
    }
    return new Promise((done) => {
      execFile('bash', ['-c', script], { cwd: root, env }, (error, _stdout, stderr) =>
        done({ code: error ? Number(error.code ?? 1) : 0, stderr }),
      )
    })
  }
})
