import { resolve } from 'node:path'
import { modelsFolder } from '../../ai/local/fetched-models.ts'
import { GetFailure } from '../../ai/local/get-failure.ts'
import { getModel, hubOf, type Progress } from '../../ai/local/get-model.ts'
import { HUB_MODELS } from '../../ai/local/hub-models.ts'
import type { Config } from '../../config.ts'
import { CommandFailure, type Input, type LocalCommand, type Result, usageFailure } from '../command.ts'

/**
 * `models get` needs no database, so it runs in the process in which it was typed, where its progress can be seen. A running
 * service notices what has been fetched.
 */
export const modelsGet: LocalCommand = {
  name: 'models get',
  usage: '[NAME] [--from FOLDER]',
  summary: `Fetches an embedding model that the service runs itself, and uses it: ${HUB_MODELS.map(({ name }) => name).join(' or ')}`,
  options: { from: { type: 'string' } },
  positionals: { count: 0, most: 1 },
  runHere: getFetched,
  print: ({ model, configured }) =>
    configured
      ? `${model} was fetched, but ${configured} is configured and stays in use. Remove that setting to use the fetched one.`
      : `${model} was fetched and tried. A running service uses it within seconds, and one that is started later from the start.`,
}

async function getFetched(
  { dataDir, catalogue }: Config,
  { positionals: [name], values: { from } }: Input,
  say: (line: string) => void,
): Promise<Result> {
  const model = name === undefined ? HUB_MODELS[0] : HUB_MODELS.find((one) => one.name === name)
  if (!model)
    throw usageFailure(
      `There is no model "${name}"; the models are ${HUB_MODELS.map((one) => one.name).join(', ')}.`,
    )
  try {
    await getModel({
      folder: modelsFolder(dataDir),
      model,
      from: from === undefined ? null : resolve(from),
      hub: hubOf(process.env),
      say,
      onProgress: progressTo(say),
    })
  } catch (error) {
    if (error instanceof GetFailure) throw new CommandFailure(error.message)
    throw error
  }
  return { model: model.name, configured: catalogue.embedding?.name ?? null }
}

const STEPS = { model: 'fetching the model', runtime: 'installing what runs it', trying: 'trying it' }

/** Says each step once, and each tenth of the model. */
function progressTo(say: (line: string) => void): (progress: Progress) => void {
  let said = ''
  return ({ step, done, total }) => {
    const tenths = step === 'model' ? `: ${Math.floor((10 * done) / total) * 10} %` : ''
    const line = `${STEPS[step]}${tenths}`
    if (line !== said) say(line)
    said = line
  }
}
