import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { FolderFault } from './folder-fault.ts'

const ONNX = 'onnxruntime-node'
/** The second was installed until the first, which makes the same tokens as the reference, was there for all systems. */
const TOKENIZERS = ['tokenizers', '@huggingface/tokenizers'] as const

/** The packages that run a model, in tested versions, with the integrity of each. They are no packages of the service. */
const packageFile = (name: string) => ({
  name,
  text: readFileSync(join(import.meta.dirname, 'packages', name), 'utf8'),
})
const PACKAGE = packageFile('package.json')
export const PACKAGE_FILES = [PACKAGE, packageFile('package-lock.json')]
const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(PACKAGE.text)
export const RUNTIME_PACKAGES = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`)

/** The name of the folder beside fetched models in which their packages are installed. */
export const RUNTIME_FOLDER = 'runtime'

/** The entry points of the packages. */
export type Runtime = { onnx: string; tokenizers: string }

/** Returns the packages that are installed in the folder, in a parent folder or in `runtime` beside it. Throws FolderFault. */
export function runtimeOf(folder: string): Runtime & { folders: string[] } {
  const { resolve } = createRequire(import.meta.url)
  const found = (name: string): { name: string; file: string } | null => {
    try {
      return { name, file: resolve(name, { paths: [folder, join(dirname(folder), RUNTIME_FOLDER)] }) }
    } catch {
      return null
    }
  }
  const onnx = found(ONNX)
  const tokenizers = found(TOKENIZERS[0]) ?? found(TOKENIZERS[1])
  if (!onnx || !tokenizers)
    throw new FolderFault(
      `lacks what runs it. Run: npm install --ignore-scripts --prefix ${JSON.stringify(folder)} ${RUNTIME_PACKAGES.join(' ')}`,
    )
  return {
    onnx: onnx.file,
    tokenizers: tokenizers.file,
    folders: [onnx, tokenizers].map(({ name, file }) => aroundPackage(file, name)),
  }
}

/** Returns the folder in which a package and its dependencies are installed. */
function aroundPackage(file: string, name: string): string {
  return file.slice(0, file.lastIndexOf(`${sep}${name.replaceAll('/', sep)}${sep}`))
}
