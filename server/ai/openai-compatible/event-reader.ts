import { tooLong } from '../failures/model-failure.ts'

const LF = 10
const CR = 13
const BYTE_ORDER_MARK = 0xfeff
const NO_BYTES = Buffer.alloc(0)

export type StreamEvent =
  | { type: 'chunk'; value: unknown }
  /** An error, as text or as a value. */
  | { type: 'error'; value: unknown }
  /** Data that is not JSON; `isWhole` is false if the stream broke off in it. */
  | { type: 'unreadable'; isWhole: boolean }
  | { type: 'done' }

/**
 * Reads a server-sent event stream of JSON as its bytes arrive, and tolerates what servers do differently: a data line
 * that is complete JSON is an event, whether or not an empty line follows. Throws when a line, or an event of several
 * lines, exceeds `longest` bytes.
 */
export class EventReader {
  readonly #longest: number
  readonly #onEvent: (event: StreamEvent) => void
  /** The bytes of the unfinished line are the first `#length` of these. */
  #rest = NO_BYTES
  #length = 0
  #isFirst = true
  #endedWithCr = false
  /** Data whose JSON continues in the next line. */
  #data: string | null = null
  #isError = false

  constructor(longest: number, onEvent: (event: StreamEvent) => void) {
    this.#longest = longest
    this.#onEvent = onEvent
  }

  /** Whether a line ended in these bytes, including comments. */
  push(bytes: Buffer): boolean {
    const end = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1
    if (end === 0) {
      this.#keep(bytes)
      return false
    }
    // A line never ends inside a character, so complete lines can be decoded separately.
    if (this.#length > 0) this.#keep(bytes.subarray(0, end))
    const lines =
      this.#length > 0 ? this.#rest.toString('utf8', 0, this.#length) : bytes.toString('utf8', 0, end)
    this.#length = 0
    this.#keep(bytes.subarray(end))
    this.#readLines(lines)
    return true
  }

  /** The stream has ended; its last line may lack its terminator. */
  end(): void {
    const last = this.#rest.toString('utf8', 0, this.#length)
    this.#length = 0
    if (last !== '') this.#readLines(`${last}\n`, false)
    this.#closeEvent(false)
  }

  #keep(bytes: Buffer): void {
    const length = this.#length + bytes.length
    if (length > this.#longest) throw tooLong('a line of the stream')
    if (length > this.#rest.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, 2 * this.#rest.length, 1_024))
      this.#rest.copy(grown, 0, 0, this.#length)
      this.#rest = grown
    }
    bytes.copy(this.#rest, this.#length)
    this.#length = length
  }

  #readLines(text: string, isWhole = true): void {
    let from = 0
    if (this.#isFirst) {
      this.#isFirst = false
      if (text.charCodeAt(0) === BYTE_ORDER_MARK) from = 1
    }
    if (text.includes('\r') || this.#endedWithCr) {
      if (this.#endedWithCr && text.charCodeAt(from) === LF) from++
      this.#endedWithCr = text.endsWith('\r')
      const lines = text.slice(from).split(/\r\n|\n|\r/)
      lines.pop()
      for (const line of lines) this.#readLine(line)
      return
    }
    for (let to = text.indexOf('\n', from); to !== -1; to = text.indexOf('\n', from)) {
      this.#readLine(text.slice(from, to), isWhole)
      from = to + 1
    }
  }

  #readLine(line: string, isWhole = true): void {
    if (line === '') this.#closeEvent(true)
    else if (line.startsWith('data:')) this.#readData(line.slice(line[5] === ' ' ? 6 : 5))
    else if (line.startsWith('event:')) this.#isError = line.slice(6).trim() === 'error'
    else if (line.startsWith('error:')) {
      // Older versions of llama.cpp name the field after its content.
      this.#isError = true
      this.#readData(line.slice(6).trim())
    } else if (line.startsWith('{') && isWhole) {
      // A proxy or a server may write an error without a field name. Other fields and comments are ignored.
      const value = parse(line)
      if (value !== undefined) this.#onEvent({ type: 'chunk', value })
    }
  }

  #readData(data: string): void {
    if (this.#data !== null) {
      this.#data += `\n${data}`
      if (this.#data.length > this.#longest) throw tooLong('an event of the stream')
      return
    }
    if (data.startsWith('[DONE]')) {
      this.#onEvent({ type: 'done' })
      return
    }
    const value = parse(data)
    if (value !== undefined) this.#onEvent({ type: this.#isError ? 'error' : 'chunk', value })
    else if (data.trim() !== '') this.#data = data
  }

  #closeEvent(isWhole: boolean): void {
    const data = this.#data
    const isError = this.#isError
    this.#data = null
    this.#isError = false
    if (data === null) return
    const value = parse(data)
    if (isError) this.#onEvent({ type: 'error', value: value ?? data })
    else if (value !== undefined) this.#onEvent({ type: 'chunk', value })
    else this.#onEvent({ type: 'unreadable', isWhole })
  }
}

/** Returns undefined for anything that is not JSON. */
function parse(data: string): unknown {
  const first = data.charCodeAt(0)
  // No event or error begins differently, and detecting that by an exception is expensive.
  if (first !== 0x7b && first !== 0x5b && first !== 0x22 && first !== 0x20) return undefined
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}
