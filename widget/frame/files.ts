import { ParleyError } from '../../client/parley-error.ts'
import type { Api } from './api.ts'
import { problemOf } from './problem-of.ts'
import { newUuid } from './random.ts'
import type { PickedFile, State } from './state.ts'
import type { Store } from './store.ts'
import type { Appearance, SentFile } from './types.ts'
import { word } from './words.ts'

/** The files attached to the next message. No method throws. */
export type Files = {
  add(files: readonly File[]): void
  remove(key: string): void
  /** Returns the files for the message being sent, and clears the list of picked files. */
  take(): SentFile[]
  /** Puts the files of a message that could not be sent back into the list of picked files. */
  giveBack(files: readonly SentFile[]): void
}

export function createFiles(store: Store<State>, api: Pick<Api, 'upload'>): Files {
  const uploads = new Map<string, AbortController>()
  const change = (files: PickedFile[]): void => store.set({ files })
  const drop = (key: string): void => {
    uploads.get(key)?.abort()
    uploads.delete(key)
    change(store.get().files.filter((file) => file.key !== key))
  }

  async function upload(key: string, file: File): Promise<void> {
    const stop = new AbortController()
    uploads.set(key, stop)
    try {
      const sent = await api.upload(file, stop.signal)
      change(store.get().files.map((one) => (one.key === key ? { ...one, sent } : one)))
      store.set({ fileNews: word('attached', file.name) })
    } catch (error) {
      if (stop.signal.aborted) return
      drop(key)
      store.set({ fileProblem: refusalOf(error, file.name, store.get().appearance) })
    } finally {
      uploads.delete(key)
    }
  }

  return {
    add(picked) {
      const limits = store.get().appearance?.uploads
      if (!limits || picked.length === 0) return
      store.set({ fileProblem: null, fileNews: '' })
      for (const file of picked) {
        const { files } = store.get()
        if (files.length >= limits.maxFiles) {
          store.set({ fileProblem: word('tooManyFiles', limits.maxFiles) })
          return
        }
        if (file.size > limits.maxBytes) {
          store.set({ fileProblem: tooLarge(file.name, limits.maxBytes) })
          continue
        }
        const key = newUuid()
        change([...files, { key, name: file.name, sent: null }])
        void upload(key, file)
      }
    },
    remove(key) {
      drop(key)
      store.set({ fileProblem: null, fileNews: '' })
    },
    take() {
      const sent = store.get().files.flatMap((file) => file.sent ?? [])
      store.set({ files: [], fileProblem: null, fileNews: '' })
      return sent
    },
    giveBack: (files) =>
      change([...files.map((sent) => ({ key: sent.id, name: sent.name, sent })), ...store.get().files]),
  }
}

const tooLarge = (name: string, maxBytes: number): string =>
  word('fileTooLarge', name, Math.floor(maxBytes / 1_048_576))

function refusalOf(error: unknown, name: string, appearance: Appearance | null): string {
  if (!(error instanceof ParleyError)) return word('fileFailed', name)
  if (error.status === 413) return tooLarge(name, appearance?.uploads?.maxBytes ?? 0)
  if (error.status === 400) return word('fileRefused', name)
  const failed = word('fileFailed', name)
  return error.status === 429 ? `${failed} ${problemOf(error, null, appearance).sentence}` : failed
}
