import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { FolderFault } from './folder-fault.ts'

const ONNX = 'onnxruntime-node'
const TOKENIZERS = '@huggingface/tokenizers'

/** The packages that run a model, in tested versions, with the integrity of each. They are no packages of the service. */
export const PACKAGE_FILES = ['package.json', 'package-lock.json'].map((name) => ({
  name,
  text: readFileSync(join(import.meta.dirname, 'packages', name), 'utf8'),
}))
const { dependencies } = JSON.parse(PACKAGE_FILES[0]!.text) as { dependencies: Record<string, string> }
export const RUNTIME_PACKAGES = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`)

/** The name of the folder beside fetched models in which their packages are installed. */
export const RUNTIME_FOLDER = 'runtime'

/** The entry points of the packages. */
export type Runtime = { onnx: string; tokenizers: string }

/** Returns the packages that are installed in the folder, in a parent folder or in `runtime` beside it. Throws FolderFault. */
export function runtimeOf(folder: string): Runtime & { folders: string[] } {
  const { resolve } = createRequire(import.meta.url)
  const paths = [folder, join(dirname(folder), RUNTIME_FOLDER)]
  try {
    const [onnx = '', tokenizers = ''] = [ONNX, TOKENIZERS].map((name) => resolve(name, { paths }))
    return { onnx, tokenizers, folders: [aroundPackage(onnx, ONNX), aroundPackage(tokenizers, TOKENIZERS)] }
  } catch {
    throw new FolderFault(
      `lacks what runs it. Run: npm install --ignore-scripts --prefix ${JSON.stringify(folder)} ${RUNTIME_PACKAGES.join(' ')}`,
    )
  }
}

/** Returns the folder in which a package and its dependencies are installed. */
function aroundPackage(file: string, name: string): string {
  return file.slice(0, file.lastIndexOf(`${sep}${name.replaceAll('/', sep)}${sep}`))
}
