import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** A file as browsers receive it. */
export type Asset = { hash: string; type: string; bytes: Buffer; gzipped: Buffer }
export type Bundle = { loader: Asset; script: Asset; style: Asset }

const source = join(import.meta.dirname, '../../../../widget')

/** The scripts and the style of the widget, small enough to be kept in memory. */
async function bundleWidget(): Promise<Bundle> {
  const { outputFiles } = await build({
    entryPoints: {
      loader: join(source, 'loader.ts'),
      frame: join(source, 'frame/main.tsx'),
      style: join(source, 'frame/frame.css'),
    },
    bundle: true,
    write: false,
    outdir: '/',
    minify: true,
    format: 'iife',
    target: 'es2020',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // The project's compiler settings are for type checking and would change the output.
    tsconfigRaw: '{}',
    legalComments: 'none',
    logLevel: 'silent',
  })
  const asset = (name: string, type: string): Asset => {
    const file = outputFiles.find(({ path }) => path.endsWith(name))
    if (!file) throw new Error(`The bundle has no ${name}.`)
    const bytes = Buffer.from(file.contents)
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
    return { hash, type, bytes, gzipped: gzipSync(bytes, { level: 9 }) }
  }
  const script = 'text/javascript; charset=utf-8'
  return {
    loader: asset('loader.js', script),
    script: asset('frame.js', script),
    style: asset('style.css', 'text/css; charset=utf-8'),
  }
}

/** Bundled once, at the first request. A failed attempt is repeated. */
export function createBundler(): () => Promise<Bundle> {
  let bundling: Promise<Bundle> | null = null
  return () => {
    bundling ??= bundleWidget().catch((error: unknown) => {
      bundling = null
      throw error
    })
    return bundling
  }
}
