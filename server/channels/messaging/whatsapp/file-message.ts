import type { JsonObject } from '../connection/untrusted-json.ts'

type File = { name: string; type: string; bytes: Uint8Array<ArrayBuffer> }

const MB = 1_048_576
/** The types that the app displays, with their size limits. Other files are sent as documents. */
const SHOWN: [RegExp, 'image' | 'video' | 'audio', number][] = [
  [/^image\/(jpeg|png)$/, 'image', 5 * MB],
  [/^video\/(mp4|3gpp)$/, 'video', 16 * MB],
  [/^audio\/(aac|amr|mpeg|mp4)$/, 'audio', 16 * MB],
]

/** Returns the upload of a file, and the message that refers to it by its id. */
export function fileMessage({ name, type, bytes }: File): {
  form: FormData
  message(id: string): JsonObject
} {
  const form = new FormData()
  form.set('messaging_product', 'whatsapp')
  form.set('type', type)
  form.set('file', new Blob([bytes], { type }), name)
  const kind = SHOWN.find(([types, , most]) => types.test(type) && bytes.byteLength <= most)?.[1]
  return {
    form,
    message: (id) =>
      kind ? { type: kind, [kind]: { id } } : { type: 'document', document: { id, filename: name } },
  }
}
