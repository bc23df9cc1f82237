import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { build } from 'esbuild'

/** The names of the files that a browser loads first; one of these requests every other file. */
export type Built = { script: string; style: string; preload: string[]; files: string[] }

const root = join(import.meta.dirname, '../..')
const web = join(root, 'web')
export const BUILD_FOLDER = join(web, 'dist')
const MANIFEST = 'built.json'

/** Builds the workspace if its sources have changed since the last build, and returns the names of its files. */
export async function buildWorkspace(folder = BUILD_FOLDER): Promise<Built> {
  const fingerprint = await fingerprintOfSources()
  const kept = await readFile(join(folder, MANIFEST), 'utf8').catch(() => null)
  if (kept !== null) {
    const manifest = JSON.parse(kept) as { fingerprint: string; built: Built }
    if (manifest.fingerprint === fingerprint) return manifest.built
  }
  const made = `${folder}.${process.pid}`
  const { metafile } = await build({
    entryPoints: { main: join(web, 'app/main.tsx') },
    outdir: made,
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    metafile: true,
    target: 'es2022',
    jsx: 'automatic',
    entryNames: '[name].[hash]',
    chunkNames: '[name].[hash]',
    assetNames: '[name].[hash]',
    loader: { '.woff2': 'file' },
    define: { 'process.env.NODE_ENV': '"production"' },
    // Settings for the checker would change what is made.
    tsconfigRaw: '{}',
    legalComments: 'none',
    logLevel: 'silent',
    absWorkingDir: root,
  })
  const nameOf = (path: string): string => relative(made, join(root, path))
  const [path, entry] = Object.entries(metafile.outputs).find(([, { entryPoint }]) =>
    entryPoint?.endsWith('app/main.tsx'),
  ) as [string, (typeof metafile.outputs)[string]]
  const built: Built = {
    script: nameOf(path),
    style: nameOf(entry.cssBundle ?? ''),
    preload: entry.imports
      .filter(({ kind }) => kind === 'import-statement')
      .map(({ path: one }) => nameOf(one)),
    files: Object.keys(metafile.outputs).map(nameOf),
  }
  await mkdir(made, { recursive: true })
  await writeFile(join(made, MANIFEST), JSON.stringify({ fingerprint, built }))
  await rm(folder, { recursive: true, force: true })
  // When several processes build at once, the files of one of them stay; all of them are the same.
  await rename(made, folder).catch(() => rm(made, { recursive: true, force: true }))
  return built
}

/** Returns a hash of everything that a build depends on: our sources and the installed version of every package. */
async function fingerprintOfSources(): Promise<string> {
  const hash = createHash('sha256')
  for (const folder of ['web', 'client']) {
    const names = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
    const files = names
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => !file.startsWith(BUILD_FOLDER))
      .sort()
    for (const file of files) hash.update(relative(root, file)).update(await readFile(file))
  }
  hash.update(await readFile(join(root, 'package-lock.json')))
  hash.update(await readFile(import.meta.filename))
  return hash.digest('hex')
}
