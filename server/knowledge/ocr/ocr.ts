import { ChildProcessFailure } from '../../platform/child-process/child-process-failure.ts'
import { createPool } from '../../platform/child-process/pool.ts'
import { ocrLanguages } from './ocr-folder.ts'
import type { OcrOrder, OcrPiece } from './ocr-work.ts'

export type Ocr = {
  /** Whether it has been installed. */
  isOn(): boolean
  /** Returns the numbers of the pages of a PDF that are pictures, 1 of a picture file; none if it cannot be told. */
  picturesIn(bytes: Uint8Array, asked: Asked): Promise<number[]>
  /** Returns the text of such a page; '' if it cannot be read. */
  read(bytes: Uint8Array, page: number, asked: Asked): Promise<string>
  /** The most pages that are read of a document. */
  maxPages: number
  close(): Promise<void>
}

type Asked = { owner: string; signal: AbortSignal }

const MODULE = new URL('./ocr-work.ts', import.meta.url).href
/** For one page; the first also waits for the languages to be loaded. */
const LIMITS = { timeoutMs: 120_000, memoryMb: 1_280, answerMb: 16 }
const IDLE_MS = 30_000

/** Recognises text in pictures, one page at a time, in a child process without access to anything else. */
export function createOcr({ folder, maxPages }: { folder: string; maxPages: number }): Ocr {
  const access = { folders: [folder], hasAddons: false }
  const pool = createPool({ places: 1, idleMs: IDLE_MS, access, ...LIMITS })

  const run = async (
    order: Pick<OcrOrder, 'bytes' | 'page'>,
    { owner, signal }: Asked,
  ): Promise<OcrPiece | null> => {
    const found: { piece: OcrPiece | null } = { piece: null }
    const input: OcrOrder = { ...order, folder, languages: ocrLanguages(folder) }
    const onPiece = (piece: unknown): void => {
      found.piece = piece as OcrPiece
    }
    try {
      await pool.run(owner, { module: MODULE, input }, { onPiece }, { signal })
      return found.piece
    } catch (error) {
      // A page that cannot be read does not keep the others from being read.
      if (error instanceof ChildProcessFailure && error.code !== 'aborted') return null
      throw error
    }
  }

  return {
    maxPages,
    isOn: () => ocrLanguages(folder).length > 0,
    async picturesIn(bytes, asked) {
      const piece = await run({ bytes, page: null }, asked)
      return piece && 'pictures' in piece ? piece.pictures : []
    },
    async read(bytes, page, asked) {
      const piece = await run({ bytes, page }, asked)
      return piece && 'text' in piece ? piece.text : ''
    },
    close: () => pool.close(),
  }
}
