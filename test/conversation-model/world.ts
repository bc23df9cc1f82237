import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newHome } from '../spawn-service.ts'
import type { Inside } from './inside.ts'
import {
  createPlace,
  lookIntoPlace,
  lookIntoPostgres,
  type Place,
  startEmbedded,
  startOnPostgres,
} from './processes.ts'
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts'

/** The environment in which plans run, one after the other, each with its own account. */
export type World = {
  embedded: boolean
  places: Place[]
  inside: Inside
  models: ScriptedModel
  close(): Promise<void>
}

/** The timeouts in milliseconds, short enough to wait for and long enough for a busy machine. */
const timeouts = { firstToken: 4_000, idle: 1_200, total: 15_000 }

/** Starts two processes on a new PostgreSQL database, or one on an embedded database. */
export async function openWorld({ embedded }: { embedded: boolean }): Promise<World> {
  const models = await startScriptedModel()
  const home = await newHome({ embedded })
  const modelsFile = join(home.folder, 'models.json')
  const model = {
    id: 'fake',
    provider: 'openai-compatible',
    baseUrl: `${models.url}/v1`,
    apiKey: 'k',
    timeouts,
  }
  writeFileSync(modelsFile, JSON.stringify({ auto: 'fake', models: [model] }))
  const env: Record<string, string> = { ...home.env, MODELS_FILE: modelsFile }
  const close = async (places: Place[]): Promise<void> => {
    for (const place of places) await (await place.life()).kill()
    await models.close()
    await home.remove()
  }
  if (embedded) {
    const place = createPlace(() => startEmbedded(env))
    const inside = lookIntoPlace(place.life)
    await place.life()
    return { embedded, places: [place], inside, models, close: () => close([place]) }
  }
  const first = createPlace(() => startOnPostgres(env))
  // The processes start one after the other, because the first one creates the tables.
  await first.life()
  const second = createPlace(() => startOnPostgres(env))
  await second.life()
  const { close: closeInside, ...inside } = lookIntoPostgres(env.DATABASE_URL ?? '')
  return {
    embedded,
    places: [first, second],
    inside,
    models,
    async close() {
      await closeInside()
      await close([first, second])
    },
  }
}
