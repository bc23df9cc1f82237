import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { setPriority } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

/** What a child may do beyond reading this program. */
export type Access = {
  /** Further folders that it may read. */
  folders: readonly string[]
  /** Whether it may load native code, which the permissions of Node do not bind. */
  hasAddons: boolean
}

export type Launched = ChildProcessByStdio<Writable, Readable, Readable>

const MAIN = new URL('./child-main.ts', import.meta.url)
/** The data segment of a fresh Node process: space for heaps, compiled code and threads. */
const NODE_DATA_MB = 640
/** Ends a child that is in an endless loop after its service has died. */
const CPU_SECONDS = 1_800
/** Chats have priority over documents. */
const NICE = 10

/**
 * Starts a Node process that may read this program and the folders of `access`. It cannot read other files, write or
 * start processes, and it gets no environment of the service. Where the operating system supports it, it also has no
 * network, ends with the service, and has a memory limit.
 */
export function launch(memoryMb: number, { folders, hasAddons }: Access): Launched {
  const flags = [
    '--permission',
    ...[...readable(), ...folders].map((path) => `--allow-fs-read=${path}`),
    ...(hasAddons ? ['--allow-addons'] : []),
    `--max-old-space-size=${Math.floor(memoryMb * 0.75)}`,
    // Half of the stack that the operating system provides.
    ...(hasShell ? ['--stack-size=3900'] : []),
    '--no-warnings',
    fileURLToPath(MAIN),
  ]
  const command = hasShell ? [...guards(), '/bin/sh', '-c', limits(memoryMb), 'sh', process.execPath] : []
  const [file = process.execPath, ...args] = [...command, ...flags]
  const child = spawn(file, args, { env: {}, stdio: ['pipe', 'pipe', 'pipe'], cwd: '/' })
  try {
    if (child.pid !== undefined) setPriority(child.pid, NICE)
  } catch {
    // The child has already exited, which is handled by its exit event.
  }
  return child
}

const hasShell = process.platform !== 'win32'

/** Each limit is set separately, so that a system that refuses one still sets the others. */
const limits = (memoryMb: number): string =>
  [
    'ulimit -c 0',
    `ulimit -d ${(NODE_DATA_MB + memoryMb) * 1_024}`,
    `ulimit -t ${CPU_SECONDS}`,
    'exec "$@"',
  ].join(' 2>/dev/null; ')

/** Returns whether the child processes of this system have no network. */
export const isIsolated = (): boolean => guards().includes('unshare')

/** Says what to do where `isIsolated` is false. */
export const ISOLATION_ADVICE =
  'Documents are read in processes that could reach the network, because `unshare --net --map-root-user` does not work here. On Linux, install util-linux and allow user namespaces; in a container, use a seccomp profile that allows them, or give the service only the networks that documents may reach.'

let found: string[] | null = null

/** Returns the Linux commands that are installed and allowed. They are tested once. */
function guards(): string[] {
  found ??= [
    ['setpriv', '--pdeathsig', 'KILL'],
    ['unshare', '--net', '--map-root-user'],
  ].flatMap((command) => (works(command) ? command : []))
  return found
}

const works = ([file = '', ...args]: string[]): boolean =>
  process.platform === 'linux' &&
  spawnSync(file, [...args, 'true'], { stdio: 'ignore', timeout: 5_000 }).status === 0

let program: string[] | null = null

/** Returns the folders of the program and of the packages that it can import. */
function readable(): string[] {
  if (program) return program
  const server = resolve(import.meta.dirname, '../..')
  const around: string[] = []
  for (let at = dirname(server); at !== dirname(at); at = dirname(at)) around.push(at)
  const wanted = [server, ...around.flatMap((at) => [join(at, 'node_modules'), join(at, 'package.json')])]
  const there = wanted.filter((path) => existsSync(path))
  program = [...new Set(there.flatMap((path) => [path, realpathSync(path)]))]
  return program
}
