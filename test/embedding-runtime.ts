import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { RUNTIME_PACKAGES } from '../server/ai/embedding-folder/runtime.ts'
import { keptFolder } from './memory-folder.ts'

/**
 * Returns the folder of the packages that run an embedding model, which is installed once for all tests of this machine;
 * null when npm cannot install it.
 */
export async function embeddingRuntime(): Promise<string | null> {
  const kept = join(keptFolder(), `parley-${RUNTIME_PACKAGES.join('-').replaceAll(/[^\w.-]/g, '-')}`)
  const packages = join(kept, 'node_modules')
  if (existsSync(packages)) return packages
  const made = mkdtempSync(join(keptFolder(), 'parley-runtime-'))
  const flags = ['install', '--ignore-scripts', '--no-package-lock', '--fetch-retries=1', '--prefix', made]
  try {
    await promisify(execFile)('npm', [...flags, ...RUNTIME_PACKAGES], { cwd: made, timeout: 120_000 })
    renameSync(made, kept)
  } catch {
    // There is no network, or tests that run at the same time have installed it meanwhile.
  }
  rmSync(made, { recursive: true, force: true })
  return existsSync(packages) ? packages : null
}
