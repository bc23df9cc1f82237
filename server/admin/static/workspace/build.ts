import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'

/** The names of the files that a browser loads first; one of these requests every other file. */
export type Built = { script: string; style: string; worker: string; preload: string[]; files: string[] }
type Manifest = { sources: string[]; fingerprint: string; built: Built }

const root = join(import.meta.dirname, '../../../..')
const web = join(root, 'web')
export const BUILD_FOLDER = join(web, 'dist')
const MAIN = join(web, 'app/main.tsx')
const MANIFEST = 'built.json'

/**
 * Puts everything that the main script consists of into one file. By itself, esbuild splits it into a file for each
 * group of pages that share some of it, dozens of a few hundred bytes, which take seconds to load where each request
 * does. So each file that is loaded later imports the main script, which has been loaded by then.
 */
const oneMainFile: Plugin = {
  name: 'one-main-file',
  setup(bundle) {
    const later = new Set<string>()
    bundle.onResolve({ filter: /^\./ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === later) return undefined
      const found = await bundle.resolve(path, { kind, importer, resolveDir, pluginData: later })
      later.add(found.path)
      return found
    })
    bundle.onLoad({ filter: /\.tsx$/ }, async ({ path }) =>
      later.has(path)
        ? { contents: `${await readFile(path, 'utf8')}\nimport ${JSON.stringify(MAIN)}`, loader: 'tsx' }
        : undefined,
    )
  },
}

/** Puts the drawings of the icons in the place of their names, so that no other one of the set reaches a browser. */
const icons: Plugin = {
  name: 'icons',
  setup(bundle) {
    bundle.onLoad({ filter: /[/\\]ui[/\\]icons\.ts$/ }, async ({ path }) => {
      const { default: set } = await import('@iconify-json/lucide/icons.json', { with: { type: 'json' } })
      const drawings: Record<string, { body: string } | undefined> = set.icons
      const contents = (await readFile(path, 'utf8')).replace(/icon\('(.+?)'\)/g, (_, name: string) => {
        const drawing = drawings[name]?.body
        if (drawing === undefined) throw new Error(`Lucide has no icon ${name}.`)
        return `icon(${JSON.stringify(drawing)})`
      })
      return { contents, loader: 'ts' }
    })
  },
}

/** Builds the workspace if its sources have changed since the last build, and returns the names of its files. */
export async function buildWorkspace(folder = BUILD_FOLDER): Promise<Built> {
  const kept = await keptBuild(folder)
  if (kept) return kept
  const made = `${folder}.${randomUUID()}`
  const shared = {
    outdir: made,
    bundle: true,
    minify: true,
    metafile: true,
    target: 'es2022',
    entryNames: '[name].[hash]',
    // Settings of the type checker would change the output.
    tsconfigRaw: '{}',
    legalComments: 'none',
    logLevel: 'silent',
    absWorkingDir: root,
  } as const
  const [{ metafile }, worker] = await Promise.all([
    build({
      ...shared,
      entryPoints: { main: MAIN },
      plugins: [oneMainFile, icons],
      splitting: true,
      format: 'esm',
      jsx: 'automatic',
      chunkNames: '[name].[hash]',
      assetNames: '[name].[hash]',
      loader: { '.woff2': 'file' },
      define: { 'process.env.NODE_ENV': '"production"' },
    }),
    build({ ...shared, entryPoints: { 'desk-worker': join(web, 'inbox/desk-worker.ts') }, format: 'iife' }),
  ])
  const nameOf = (path: string): string => relative(made, join(root, path))
  const [path, entry] = Object.entries(metafile.outputs).find(([, { entryPoint }]) =>
    entryPoint?.endsWith('app/main.tsx'),
  ) as [string, (typeof metafile.outputs)[string]]
  // The lockfile determines the versions of packages.
  const inputs = Object.keys({ ...metafile.inputs, ...worker.metafile.inputs })
  const sources = inputs.filter((name) => !name.includes('node_modules/'))
  const built: Built = {
    script: nameOf(path),
    style: nameOf(entry.cssBundle ?? ''),
    preload: entry.imports
      .filter(({ kind }) => kind === 'import-statement')
      .map(({ path: one }) => nameOf(one)),
    worker: nameOf(Object.keys(worker.metafile.outputs)[0] ?? ''),
    files: Object.keys({ ...metafile.outputs, ...worker.metafile.outputs }).map(nameOf),
  }
  const manifest: Manifest = { sources, fingerprint: await fingerprintOf(sources), built }
  await mkdir(made, { recursive: true })
  await writeFile(join(made, MANIFEST), JSON.stringify(manifest))
  await putInPlace(made, folder)
  return built
}

/** Returns the build in the folder, or null if there is none or its sources have changed since. */
async function keptBuild(folder: string): Promise<Built | null> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => null)
  if (text === null) return null
  const { sources = [], fingerprint, built }: Partial<Manifest> = JSON.parse(text)
  // A deleted source counts as a change as well.
  const now = await fingerprintOf(sources).catch(() => null)
  return built && now === fingerprint ? built : null
}

/**
 * Moves a build into the folder. When several processes build at once, the first one stays: another service may be
 * reading its files, and all of them are the same.
 */
async function putInPlace(made: string, folder: string): Promise<void> {
  const isPlaced = await rename(made, folder).then(
    () => true,
    () => false,
  )
  if (isPlaced) return
  if ((await keptBuild(folder)) === null) {
    await rename(folder, `${made}.old`).catch(() => {})
    await rename(made, folder).catch(() => {})
  }
  for (const left of [made, `${made}.old`]) await rm(left, { recursive: true, force: true })
}

/** Returns a hash of all that a build depends on: our sources and the installed version of every package. */
async function fingerprintOf(sources: string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const name of sources) hash.update(name).update(await readFile(join(root, name)))
  hash.update(await readFile(join(root, 'package-lock.json')))
  hash.update(await readFile(import.meta.filename))
  return hash.digest('hex')
}
