import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, setGlobalDispatcher } from 'undici'
import { startService } from '../start.ts'
import { entriesOf, type Found, journey } from './journey.ts'
import { type Reachable, reachableModels } from './reachable-models.ts'

/**
 * `npm run test:models` walks one journey with each model that the environment's keys and servers reach, and says of the
 * others why it could not. It fails only if something that was reached fails; test/README.md names the variables.
 */
// A small machine may take minutes for one answer.
setGlobalDispatcher(new Agent({ headersTimeout: 0, bodyTimeout: 0 }))
const say = (line: string): boolean => process.stdout.write(`${line}\n`)
const wanted = await reachableModels(process.env)
let failed = 0
say('| wire | step | result | |\n| - | - | - | - |')
for (const { wire, model, reason } of wanted)
  if (model) await walk(wire, model)
  else say(`| ${wire} | all | NOT REACHED | ${reason} |`)
const reached = wanted.filter(({ model }) => model !== null).length
say(`\n${reached} of ${wanted.length} wires reached, ${failed} steps failed`)
process.exit(failed > 0 ? 1 : 0)

async function walk(wire: string, model: Reachable): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'models-'))
  const file = join(folder, 'models.json')
  await writeFile(file, JSON.stringify({ models: entriesOf(model) }))
  const service = await startService({ MODELS_FILE: file, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  try {
    await journey(service, await service.account(), model, ({ step, result, note }: Found) => {
      if (result === 'fails') failed++
      say(`| ${wire}, ${model.name} | ${step} | ${result.toUpperCase()} | ${note.replaceAll('|', '\\|')} |`)
    })
  } finally {
    await service.close()
    await rm(folder, { recursive: true })
  }
}
