import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FolderInUse, FolderUnusable, lockFolder } from '../../platform/db/embedded/folder-lock.ts'
import { lackOfMemory } from '../../platform/db/embedded/memory.ts'
import { inMb, roomOn } from '../../platform/db/upkeep/disk-space.ts'
import { codeOf, messageOf, recordOf } from '../../platform/unknown-values.ts'
import { hashOfFolder } from '../embedding-folder/folder-files.ts'
import { createFolderProcess } from '../embedding-folder/folder-process.ts'
import { RUNTIME_FOLDER } from '../embedding-folder/runtime.ts'
import { acceptFile, downloadFile, type FileToFetch, partOf, sizeOf, unwritable } from './download-file.ts'
import { noteFetched } from './fetched-models.ts'
import { GetFailure } from './get-failure.ts'
import { bytesOf, type HubModel } from './hub-models.ts'
import { copyRuntime, hasRuntime, installRuntime, RUNTIME } from './install-runtime.ts'

/** What is being done, and how many bytes of the model are there. */
export type Progress = { step: 'model' | 'runtime' | 'trying'; done: number; total: number }

type Getting = {
  /** The folder of fetched models. */
  folder: string
  model: HubModel
  /** A folder with the model's files and the packages, instead of the hub and npm's registry. */
  from?: string | null
  /** The address of the hub. */
  hub?: string
  /** The bytes of memory that there are; absent: those of the container or the machine. */
  memory?: number
  /** The pause after the first attempt that brings nothing, which doubles; absent: that of the service. */
  pauseMs?: number
  /** Told once, before anything is fetched: what it takes. */
  say?: (line: string) => void
  onProgress?: (progress: Progress) => void
  signal?: AbortSignal
}

const HUB = 'https://huggingface.co'
const MB = 1_000_000

/** The address of the hub, which a variable that other programs know may replace. */
export const hubOf = (env: Record<string, string | undefined>): string =>
  (env.HF_ENDPOINT?.trim() || HUB).replace(/\/+$/, '')

/**
 * Fetches a model and the packages that run it, tries both, and notes the model as the one to use. What an earlier attempt
 * has left is continued. Throws GetFailure; whatever is in use then stays in use.
 */
export async function getModel(getting: Getting): Promise<void> {
  const { folder, model, from = null, onProgress = () => {}, signal = new AbortController().signal } = getting
  let lock: ReturnType<typeof lockFolder>
  try {
    lock = lockFolder(folder)
  } catch (error) {
    if (error instanceof FolderInUse)
      throw new GetFailure('Another process is fetching a model already. Wait until it has ended.')
    if (error instanceof FolderUnusable) throw new GetFailure(error.message, { cause: error })
    throw error
  }
  try {
    refuseTooLarge(getting)
    const target = join(folder, model.name)
    const report = (step: Progress['step'], done: number): void =>
      onProgress({ step, done, total: bytesOf(model) })
    await getFiles(getting, target, (done) => report('model', done), signal)
    report('runtime', bytesOf(model))
    const runtime = join(folder, RUNTIME_FOLDER)
    if (from !== null) copyRuntime(from, runtime)
    else if (!hasRuntime(runtime)) await installRuntime(runtime, signal)
    report('trying', bytesOf(model))
    const hash = hashOfFolder(target)
    await tryModel(target, hash)
    noteFetched(folder, { name: model.name, revision: model.revision, hash })
  } catch (error) {
    if (error instanceof GetFailure || signal.aborted) throw error
    throw codeOf(error) ? unwritable(error) : error
  } finally {
    lock.release()
  }
}

/** Says what the model takes, and throws GetFailure when the disk or the memory is too small for it. */
function refuseTooLarge({ folder, model, from, memory, hub = HUB, say }: Getting): void {
  const target = join(folder, model.name)
  const there = model.files.reduce(
    (sum, { as }) => sum + Math.max(sizeOf(join(target, as)), sizeOf(partOf(join(target, as)))),
    0,
  )
  const left = Math.max(0, bytesOf(model) - there)
  const runtime = hasRuntime(join(folder, RUNTIME_FOLDER)) ? 0 : RUNTIME.installing
  const room = roomOn(folder)
  say?.(
    `${model.name} takes ${inMb(bytesOf(model))} (${inMb(left)} are left to fetch from ${from ?? hub}), what runs it ${runtime === 0 ? 'is there already' : `up to ${inMb(runtime)} while it is installed`}, and it needs about ${model.memoryMb} MB of memory. There are ${room === null ? 'an unknown number of' : Math.floor(room / MB)} MB of room in DATA_DIR.`,
  )
  if (room !== null && room < left + runtime)
    throw new GetFailure(
      `The disk of DATA_DIR has room for ${inMb(Math.max(0, room))} beside its reserve, and ${model.name} needs ${inMb(left + runtime)} more. Nothing was fetched. Make room, or set DATA_DIR to a larger disk.`,
    )
  const lack = lackOfMemory(model.memoryMb * 1_048_576, memory)
  if (lack)
    throw new GetFailure(
      `${lack} Nothing was fetched. Give it more, or use an embedding model on a server: EMBEDDING_MODEL.`,
    )
}

async function getFiles(
  { model, from, hub = HUB, pauseMs }: Getting,
  target: string,
  onBytes: (done: number) => void,
  signal: AbortSignal,
): Promise<void> {
  let before = 0
  for (const { path, as, bytes, sha256 } of model.files) {
    const url = `${hub}/${model.repository}/resolve/${model.revision}/${path}`
    const wanted = { url, target: join(target, as), bytes, sha256 }
    if (from) await copyFile(from, model, { ...wanted, as, path })
    else await downloadFile(wanted, (done) => onBytes(before + done), signal, pauseMs)
    before += bytes
    onBytes(before)
  }
  for (const [path, content] of Object.entries(model.written)) {
    mkdirSync(dirname(join(target, path)), { recursive: true })
    writeFileSync(join(target, path), JSON.stringify(content))
  }
}

/** The folder may be that of the fetched models of another installation, or hold the files of the hub. */
async function copyFile(
  from: string,
  { name }: HubModel,
  { target, sha256, as, path }: FileToFetch & { as: string; path: string },
): Promise<void> {
  const found = [join(from, name, as), join(from, name, path), join(from, as), join(from, path)].find(
    (file) => existsSync(file),
  )
  if (!found)
    throw new GetFailure(
      `${from} has no ${join(name, as)}. Give the folder "models" of the DATA_DIR of an installation that has fetched ${name}.`,
    )
  mkdirSync(dirname(target), { recursive: true })
  cpSync(found, partOf(target))
  await acceptFile(partOf(target), { url: found, target, sha256 })
}

/** Throws GetFailure when the model makes no vector here, for instance because its packages do not run on this system. */
async function tryModel(folder: string, hash: string): Promise<void> {
  const child = createFolderProcess({ folder, hash })
  try {
    await child.embed('A lamp gives light.', 'questions')
  } catch (error) {
    const message = messageOf(recordOf(error).cause ?? error)
    throw new GetFailure(`The model was fetched, but cannot be run here: ${folder} ${message}`, {
      cause: error,
    })
  } finally {
    await child.close()
  }
}
