import { spawn } from 'node:child_process'
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, findBinaries, startCluster } from '../postgres-cluster.ts'
import { checkFaults } from './faults.ts'
import { type Section, tableOf, writeColumn } from './figures.ts'
import { PROJECT } from './guarded-world.ts'
import { checkHistory } from './history.ts'
import { checkKills } from './kills.ts'
import { checkTenants } from './tenants.ts'

/**
 * `npm run guard -- [--short] [--column NAME] [SECTION…]` examines the service from outside: by HTTP, by its commands,
 * and by the rows of its database. The sections are conformance, tenants, kills, faults and history; a fault can be
 * named, as in `faults:slow`. PROJECT names another checkout to examine with the same checks. The last output is a table
 * of figures; with `--column` it is also added to bench/results/guard.md. It ends with exit 1 when a hard rule breaks.
 */
const words = process.argv.slice(2)
const isShort = words.includes('--short')
const column = words.includes('--column') ? words[words.indexOf('--column') + 1] : undefined
const wanted = words.filter((word) => !word.startsWith('--') && word !== column)

const KILLS = isShort ? 6 : 40
const RETRIES = isShort ? 1_000 : 5_000

/** Everything that is made for a run is in one folder, and goes with it, also when the run is interrupted. */
const folder = mkdtempSync(join(tmpdir(), 'parley-guard-'))
chmodSync(folder, 0o755)
process.env.TMPDIR = folder
process.on('exit', () => {
  for (const file of globSync(`${folder}/**/data/postmaster.pid`))
    process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGQUIT')
  rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const bin = findBinaries()
const withCluster = async (what: string, work: (cluster: Cluster) => Promise<Section>): Promise<Section> => {
  if (!bin) return skipped(what, 'PostgreSQL was not found')
  const cluster = await startCluster(bin)
  try {
    return await work(cluster)
  } finally {
    await cluster.remove()
  }
}

const skipped = (what: string, reason: string): Section => ({
  figures: { [`${what}: skipped`]: reason },
  broken: [],
  stories: [],
})

const SECTIONS: Record<string, () => Promise<Section>> = {
  conformance: checkConformance,
  tenants: () => withCluster('tenants', checkTenants),
  kills: async () => {
    const embedded = await checkKills(null, KILLS)
    const others = await withCluster('kills with PostgreSQL', (cluster) => checkKills(cluster, KILLS))
    return {
      figures: { ...embedded.figures, ...others.figures },
      broken: [...embedded.broken, ...others.broken],
      stories: [...embedded.stories, ...others.stories],
    }
  },
  faults: async () => {
    if (!bin) return skipped('faults', 'PostgreSQL was not found')
    const named = wanted.flatMap((word) => (word.startsWith('faults:') ? word.slice('faults:'.length) : []))
    return checkFaults(bin, (fault) => named.length === 0 || named.includes(fault))
  },
  history: () => withCluster('history', (cluster) => checkHistory(cluster, RETRIES)),
}

const unknown = wanted.filter((word) => !(word.split(':')[0]! in SECTIONS))
if (unknown.length > 0) {
  console.error(`There is no section ${unknown}; the sections are ${Object.keys(SECTIONS).join(', ')}.`)
  process.exit(2)
}

const figures: Section['figures'] = {}
const broken: string[] = []
for (const [name, check] of Object.entries(SECTIONS)) {
  if (wanted.length > 0 && !wanted.some((word) => word.split(':')[0] === name)) continue
  const begun = Date.now()
  try {
    const section = await check()
    Object.assign(figures, section.figures)
    broken.push(...section.broken)
    for (const story of section.stories.slice(0, 20)) console.log(`  ${story}`)
  } catch (error) {
    broken.push(`${name}: ${error instanceof Error ? error.stack : error}`)
  }
  const seconds = Math.round((Date.now() - begun) / 1_000)
  figures[`${name}: seconds`] = seconds
  console.log(`${name} took ${seconds} s`)
}
if (column) writeColumn(column, figures)
console.log(`\n${tableOf({ [column ?? 'now']: figures })}\n\n${JSON.stringify(figures)}`)
for (const rule of broken) console.error(`BROKEN ${rule}`)
process.exit(broken.length > 0 ? 1 : 0)

/** Runs the conformance suite, which is a program of its own. */
async function checkConformance(): Promise<Section> {
  const suite = join(import.meta.dirname, '../conformance/run.mjs')
  if (!existsSync(suite)) return skipped('conformance', `there is no ${suite}`)
  const child = spawn(process.execPath, [suite], {
    cwd: PROJECT,
    env: { ...process.env, PROJECT },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (text: Buffer) => {
    output += text
  })
  const code = await new Promise((done) => child.on('exit', done))
  const lines = output.trimEnd().split('\n')
  // When the run itself breaks, its last line is none of figures.
  const last = lines.at(-1) ?? ''
  const { statements = '?', ok = '?', fail = '?' } = last.startsWith('{') ? JSON.parse(last) : {}
  return {
    figures: { 'conformance: hold / fail / statements': `${ok} / ${fail} / ${statements}` },
    broken: code === 0 ? [] : [`conformance: ${fail} statements fail`],
    stories: lines.filter((line) => /^(FAIL|!!) /.test(line)),
  }
}
