import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What reads pictures, with the integrity of all that it needs. Internal modules of the package are used, so its version is
 * fixed. The packages of languages have no dependencies.
 */
export const OCR_PACKAGES = join(import.meta.dirname, 'packages')
export const languagePackage = (language: string): string => `@tesseract.js-data/${language}@1.0.0`

/** Where the language package has the data of the fast engine. */
export const PACKAGED_DATA = '4.0.0_best_int'
const ENDING = '.traineddata.gz'

/** The folder of a service's text recognition, which is off without it. */
export const ocrFolder = (dataDir: string): string => join(dataDir, 'ocr')
export const dataFolder = (folder: string): string => join(folder, 'data')
export const dataFile = (language: string): string => `${language}${ENDING}`

/** Returns the languages that can be recognised; none: it is off. */
export function ocrLanguages(folder: string): string[] {
  if (!existsSync(join(folder, 'node_modules', 'tesseract.js')) || !existsSync(dataFolder(folder))) return []
  const files = readdirSync(dataFolder(folder)).filter((name) => name.endsWith(ENDING))
  return files.map((name) => name.slice(0, -ENDING.length)).sort()
}

export const OCR_ADVICE =
  'Text recognition (OCR) is off, so scanned pages of PDFs are not read. `npm run -s parley -- ocr get` switches it on, with other languages than English: `ocr get eng deu`.'
