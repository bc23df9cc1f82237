import { resolve } from 'node:path'
import { GetFailure } from '../../ai/local/get-failure.ts'
import type { Config } from '../../config.ts'
import { getOcr } from '../../knowledge/ocr/get-ocr.ts'
import { ocrFolder } from '../../knowledge/ocr/ocr-folder.ts'
import { CommandFailure, type Input, type LocalCommand, type Result, usageFailure } from '../command.ts'

const LANGUAGE = /^[a-z]{3}(?:_[a-z]{3,5})*$/
const MAX_LANGUAGES = 10

/** Needs no database, like `models get`. A running service notices what has been fetched. */
export const ocrGet: LocalCommand = {
  name: 'ocr get',
  usage: '[LANGUAGE...] [--from FOLDER]',
  summary:
    'Fetches what recognises text in scanned pages, for these languages (three letters, as in "eng deu fra"; English without any), and switches it on',
  options: { from: { type: 'string' } },
  positionals: { count: 0, most: MAX_LANGUAGES },
  runHere: get,
  print: ({ languages }) =>
    `Text recognition is on, for: ${(languages as string[]).join(', ')}. Train sources again whose pages are pictures. To switch it off, remove the folder "ocr" of DATA_DIR.`,
}

async function get({ dataDir }: Config, { positionals, values: { from } }: Input): Promise<Result> {
  const languages = positionals.length > 0 ? [...new Set(positionals)] : ['eng']
  const wrong = languages.find((language) => !LANGUAGE.test(language))
  if (wrong !== undefined)
    throw usageFailure(`"${wrong}" is no language: write three letters, such as eng, deu, fra or chi_sim.`)
  const { signal } = new AbortController()
  try {
    const folder = ocrFolder(dataDir)
    return {
      languages: await getOcr(folder, { languages, from: from === undefined ? null : resolve(from), signal }),
    }
  } catch (error) {
    if (error instanceof GetFailure) throw new CommandFailure(error.message)
    throw error
  }
}
