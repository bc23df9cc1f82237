import { deserialize, serialize } from 'node:v8'

const HEAD_BYTES = 4

/** Returns a message for a pipe: the length, followed by the value as serialised by the structured clone algorithm. */
export function frameOf(value: unknown): Buffer {
  const body = serialize(value)
  const head = Buffer.allocUnsafe(HEAD_BYTES)
  head.writeUInt32LE(body.length)
  return Buffer.concat([head, body])
}

type FrameReader = {
  /** Adds the next bytes of the pipe. Throws RangeError when a frame is longer than `maxBytes`. */
  push(bytes: Uint8Array): void
}

/** Reassembles frames and calls `onValue` with each value. */
export function readFrames<T>(maxBytes: number, onValue: (value: T) => void): FrameReader {
  let pieces: Uint8Array[] = []
  let held = 0
  let wanted = HEAD_BYTES
  let isHead = true
  return {
    push(bytes) {
      pieces.push(bytes)
      held += bytes.length
      while (held >= wanted) {
        const [first, ...others] = pieces
        const all = first && others.length === 0 ? asBuffer(first) : Buffer.concat(pieces, held)
        const frame = all.subarray(0, wanted)
        pieces = [all.subarray(wanted)]
        held -= wanted
        if (isHead) {
          wanted = frame.readUInt32LE()
          if (wanted > maxBytes) throw new RangeError(`A frame of ${wanted} bytes is more than ${maxBytes}.`)
        } else {
          wanted = HEAD_BYTES
          onValue(deserialize(frame))
        }
        isHead = !isHead
      }
    },
  }
}

const asBuffer = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length)
