import { spawn } from 'node:child_process'
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { PACKAGE_FILES, RUNTIME_FOLDER } from '../embedding-folder/runtime.ts'
import { GetFailure } from './get-failure.ts'

/** Measured: what npm fetches, what the packages take on the disk of Linux on x64, and until the other systems are removed. */
export const RUNTIME = { download: 142_000_000, disk: 58_000_000, installing: 520_000_000 }

/** npm has timeouts of its own for each request. */
const MAX_MS = 20 * 60_000
const MAX_SAID = 2_000
const OWN_CACHE = '.npm'

const nativeOf = (folder: string): string =>
  join(folder, 'node_modules', 'onnxruntime-node', 'bin', 'napi-v6', process.platform, process.arch)

/** Returns whether the folder has the packages of this version for this system. */
export const hasRuntime = (folder: string): boolean =>
  existsSync(nativeOf(folder)) &&
  PACKAGE_FILES.every(({ name, text }) => {
    const path = join(folder, name)
    return existsSync(path) && readFileSync(path, 'utf8') === text
  })

/**
 * Installs the packages that run a model into a folder of their own, with the settings that the user has for npm, such as
 * registry and proxy. The lock file pins their versions and their integrity, and their scripts are not run: the only one would
 * fetch parts for graphics cards. Throws GetFailure.
 */
export async function installRuntime(folder: string, signal: AbortSignal): Promise<void> {
  const made = `${folder}.new`
  rmSync(made, { recursive: true, force: true })
  mkdirSync(made, { recursive: true })
  for (const { name, text } of PACKAGE_FILES) writeFileSync(join(made, name), text)
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', '.']
  // A service may run as a user without a home that can be written, where npm keeps what it has fetched.
  await runNpm(['ci', ...flags, ...(canWrite(homedir()) ? [] : ['--cache', OWN_CACHE])], made, signal)
  rmSync(join(made, OWN_CACHE), { recursive: true, force: true })
  keepOwnSystem(made)
  replace(folder, made)
}

/** Copies the packages out of a folder that another installation has made. Throws GetFailure. */
export function copyRuntime(from: string, folder: string): void {
  const found = [join(from, RUNTIME_FOLDER), from].find((one) => existsSync(join(one, 'node_modules')))
  if (!found && hasRuntime(folder)) return
  if (!found || !hasRuntime(found))
    throw new GetFailure(
      `${found ?? join(from, RUNTIME_FOLDER)} does not have what runs the model on ${process.platform} ${process.arch}. Give the folder "models" of the DATA_DIR of an installation of the same version on the same kind of machine.`,
    )
  const made = `${folder}.new`
  rmSync(made, { recursive: true, force: true })
  cpSync(found, made, { recursive: true })
  replace(folder, made)
}

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function replace(folder: string, made: string): void {
  rmSync(folder, { recursive: true, force: true })
  renameSync(made, folder)
}

/** The packages have the compiled code for many systems, of which one is used. */
function keepOwnSystem(folder: string): void {
  const own = nativeOf(folder)
  if (!existsSync(own))
    throw new GetFailure(
      `onnxruntime-node has no compiled code for ${process.platform} ${process.arch}, so a model cannot be run here. Use one on a server: EMBEDDING_MODEL.`,
    )
  const systems = join(own, '..', '..')
  for (const system of readdirSync(systems))
    for (const processor of readdirSync(join(systems, system)))
      if (join(systems, system, processor) !== own)
        rmSync(join(systems, system, processor), { recursive: true })
  const tokenizers = join(folder, 'node_modules', 'tokenizers')
  for (const name of readdirSync(tokenizers))
    if (name.endsWith('.node') && !name.includes(`.${process.platform}-${process.arch}`))
      rmSync(join(tokenizers, name))
}

/** Where npm started the service, that npm is used; otherwise the one on the path. */
function npm(): { file: string; first: string[] } {
  const path = process.env.npm_execpath
  return path && basename(path) === 'npm-cli.js'
    ? { file: process.execPath, first: [path] }
    : { file: 'npm', first: [] }
}

/** Runs npm; `what` it installs is named where it fails. Throws GetFailure. */
export function runNpm(
  args: string[],
  cwd: string,
  signal: AbortSignal,
  what = 'what runs the model',
): Promise<void> {
  const { file, first } = npm()
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...first, ...args], {
      cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: MAX_MS,
      signal,
      // On Windows, npm is a script of the shell. The arguments are fixed.
      shell: process.platform === 'win32' && file === 'npm',
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-MAX_SAID)
    })
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new GetFailure(
              `npm, which installs ${what}, was not found. Install npm, or fetch it on another machine and give the command its folder: --from FOLDER.`,
            )
          : error,
      ),
    )
    child.on('close', (code) => (code === 0 ? resolve() : reject(new GetFailure(failureOf(said, what)))))
  })
}

function failureOf(said: string, what: string): string {
  const lines = said
    .split('\n')
    .map((line) => line.replace(/^npm (?:error|ERR!)\s*/, '').trim())
    .filter((line) => line !== '' && !/complete log of this run|^code |^errno |^syscall /.test(line))
  return `npm could not install ${what} (${lines[0] ?? 'it said nothing'}). It goes by npm's own settings: "npm config get registry" shows where it looks. Without internet, fetch it on another machine and give the command its folder: --from FOLDER.`
}
