import { createRequire } from 'node:module'
import { sep } from 'node:path'
import { FolderFault } from './folder-fault.ts'

const ONNX = 'onnxruntime-node'
const TOKENIZERS = '@huggingface/tokenizers'

/** The packages that run a model, in tested versions. The operator installs them next to the model. */
export const RUNTIME_PACKAGES = [`${ONNX}@1.30.0`, `${TOKENIZERS}@0.2.0`]

/** The entry points of the packages. */
export type Runtime = { onnx: string; tokenizers: string }

/** Returns the packages that are installed in the folder or in a parent folder. Throws FolderFault. */
export function runtimeOf(folder: string): Runtime & { folders: string[] } {
  const { resolve } = createRequire(import.meta.url)
  try {
    const [onnx = '', tokenizers = ''] = [ONNX, TOKENIZERS].map((name) => resolve(name, { paths: [folder] }))
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
