import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { BUILD_FOLDER, type Built, buildWorkspace } from './build.ts'

/**
 * A file of the workspace in the forms sent to browsers. Fonts have no compressed forms, because they are already
 * compressed.
 */
type Asset = { type: string; bytes: Buffer; gzipped: Buffer | null; brotli: Buffer | null }
type Workspace = { built: Built; read(name: string): Promise<Asset | null> }

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
}
const compress = { gzip: promisify(gzip), brotli: promisify(brotliCompress) }

/**
 * Returns a function that opens the workspace on its first call and returns the same one later. After a failure, the
 * next call tries again.
 */
export function createWorkspace(): () => Promise<Workspace> {
  let opening: Promise<Workspace> | null = null
  return () => {
    opening ??= openWorkspace().catch((error: unknown) => {
      opening = null
      throw error
    })
    return opening
  }
}

/** Reads all files at once, because a later build by another process replaces them. */
async function openWorkspace(): Promise<Workspace> {
  const built = await buildWorkspace()
  const files = new Map(
    await Promise.all(
      built.files.map(async (name) => [name, await readFile(join(BUILD_FOLDER, name))] as const),
    ),
  )
  const assets = new Map<string, Promise<Asset>>()
  return {
    built,
    async read(name) {
      const bytes = files.get(name)
      if (!bytes) return null
      const asset = assets.get(name) ?? assetOf(name, bytes)
      assets.set(name, asset)
      asset.catch(() => assets.delete(name))
      return asset
    },
  }
}

async function assetOf(name: string, bytes: Buffer): Promise<Asset> {
  const type = TYPES[extname(name)] ?? 'application/octet-stream'
  if (type.startsWith('font/')) return { type, bytes, gzipped: null, brotli: null }
  const [gzipped, brotli] = await Promise.all([
    compress.gzip(bytes, { level: 9 }),
    compress.brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  ])
  return { type, bytes, gzipped, brotli }
}
