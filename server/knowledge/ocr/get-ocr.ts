import { copyFileSync, cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { GetFailure } from '../../ai/local/get-failure.ts'
import { runNpm } from '../../ai/local/install-runtime.ts'
import {
  dataFile,
  dataFolder,
  languagePackage,
  OCR_PACKAGES,
  ocrLanguages,
  PACKAGED_DATA,
} from './ocr-folder.ts'

/**
 * Installs the packages for text recognition with npm and the user's settings of it, or copies them from the folder of
 * another installation. The former ones stay in use until the new ones are complete. Throws GetFailure.
 */
export async function getOcr(
  folder: string,
  { languages, from, signal }: { languages: string[]; from: string | null; signal: AbortSignal },
): Promise<string[]> {
  const made = `${folder}.new`
  rmSync(made, { recursive: true, force: true })
  mkdirSync(made, { recursive: true })
  if (from === null) await install(made, languages, signal)
  else copy(from, made)
  rmSync(folder, { recursive: true, force: true })
  renameSync(made, folder)
  return ocrLanguages(folder)
}

async function install(made: string, languages: string[], signal: AbortSignal): Promise<void> {
  cpSync(OCR_PACKAGES, made, { recursive: true })
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', '.', '--cache', '.npm']
  const what = 'what recognises text'
  await runNpm(['ci', ...flags], made, signal, what)
  await runNpm(['install', ...flags, '--save-exact', ...languages.map(languagePackage)], made, signal, what)
  mkdirSync(dataFolder(made))
  for (const language of languages) {
    const found = join(
      made,
      'node_modules',
      '@tesseract.js-data',
      language,
      PACKAGED_DATA,
      dataFile(language),
    )
    if (!existsSync(found))
      throw new GetFailure(`The package of the language "${language}" has no ${dataFile(language)}.`)
    copyFileSync(found, join(dataFolder(made), dataFile(language)))
  }
  rmSync(join(made, 'node_modules', '@tesseract.js-data'), { recursive: true })
  rmSync(join(made, '.npm'), { recursive: true, force: true })
}

function copy(from: string, made: string): void {
  if (ocrLanguages(from).length === 0)
    throw new GetFailure(
      `${from} has no text recognition. Give the folder "ocr" of the DATA_DIR of another installation.`,
    )
  cpSync(from, made, { recursive: true })
}
