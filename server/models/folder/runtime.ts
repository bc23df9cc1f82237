import { createRequire } from 'node:module'
import { sep } from 'node:path'
import { FolderFault } from './folder-fault.ts'

const ONNX = 'onnxruntime-node'
const TOKENIZERS = '@huggingface/tokenizers'

/** The packages that run a model, in the versions that were tried. The operator installs them beside the model. */
export const RUNTIME_PACKAGES = [`${ONNX}@1.30.0`, `${TOKENIZERS}@0.2.0`]

/** The files that the packages begin with. */
export type Runtime = { onnx: string; tokenizers: string }

/** Returns the packages that are installed in the folder or in one that it is in. Throws FolderFault. */
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

/** Returns the folder that a package is installed in, where the packages that it needs are, too. */
function aroundPackage(file: string, name: string): string {
  return file.slice(0, file.lastIndexOf(`${sep}${name.replaceAll('/', sep)}${sep}`))
}
