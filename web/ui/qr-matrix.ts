/**
 * The number of error correction codewords per block, and the number of blocks, for the versions 1 to 10 at level M
 * (ISO/IEC 18004, table 9).
 */
const CORRECTION = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26]
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5]

type Matrix = { size: number; dark: boolean[][]; fixed: boolean[][] }

/** Returns the dark modules of a QR code, row by row. Throws RangeError for a text of more than 213 bytes. */
export function qrMatrix(text: string): boolean[][] {
  const bytes = new TextEncoder().encode(text)
  const version = versionFor(bytes.length)
  const words = withCorrection(dataWords(bytes, version), version)
  const bits = words.flatMap((word) => bitsOf(word, 8))
  const candidates = MASKS.map((mask, number) => {
    const matrix = drawn(version, number)
    placeData(matrix, bits, mask)
    return matrix.dark
  })
  return candidates.toSorted((a, b) => penaltyOf(a) - penaltyOf(b))[0] as boolean[][]
}

const bitsOf = (value: number, length: number): number[] =>
  Array.from({ length }, (_, at) => (value >> (length - 1 - at)) & 1)

const alignmentPlaces = (version: number): number[] => {
  if (version === 1) return []
  const count = Math.floor(version / 7) + 2
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2
  const last = version * 4 + 10
  return [6, ...Array.from({ length: count - 1 }, (_, at) => last - (count - 2 - at) * step)]
}

function wordsIn(version: number): number {
  const count = alignmentPlaces(version).length
  const alignment = count === 0 ? 0 : (25 * count - 10) * count - 55
  return Math.floor(((16 * version + 128) * version + 64 - alignment - (version >= 7 ? 36 : 0)) / 8)
}

const blocksOf = (version: number) => ({
  correction: CORRECTION[version - 1] ?? 0,
  blocks: BLOCKS[version - 1] ?? 0,
})

function dataWordsIn(version: number): number {
  const { correction, blocks } = blocksOf(version)
  return wordsIn(version) - correction * blocks
}

/** The number of bits of the field that holds the length in bytes. */
const countBits = (version: number): number => (version < 10 ? 8 : 16)

function versionFor(length: number): number {
  for (let version = 1; version <= CORRECTION.length; version++)
    if (4 + countBits(version) + length * 8 <= dataWordsIn(version) * 8) return version
  throw new RangeError('The text is too long for this QR code.')
}

function dataWords(bytes: Uint8Array, version: number): number[] {
  const capacity = dataWordsIn(version) * 8
  const bits = [
    ...bitsOf(0b0100, 4),
    ...bitsOf(bytes.length, countBits(version)),
    ...[...bytes].flatMap((byte) => bitsOf(byte, 8)),
  ]
  bits.push(...bitsOf(0, Math.min(4, capacity - bits.length)))
  while (bits.length % 8 !== 0) bits.push(0)
  const words: number[] = []
  for (let at = 0; at < bits.length; at += 8)
    words.push(bits.slice(at, at + 8).reduce((word, bit) => word * 2 + bit, 0))
  for (let pad = 0xec; words.length < capacity / 8; pad ^= 0xec ^ 0x11) words.push(pad)
  return words
}

function multiply(a: number, b: number): number {
  let product = 0
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >> 7) * 0x11d)
    if ((b >> bit) & 1) product ^= a
  }
  return product
}

/** The coefficients of the generator polynomial, without the leading one. */
function generator(degree: number): number[] {
  let polynomial = [1]
  for (let root = 1, count = 0; count < degree; count++, root = multiply(root, 2)) {
    const next = [...polynomial, 0]
    for (const [at, factor] of polynomial.entries())
      next[at + 1] = (next[at + 1] ?? 0) ^ multiply(factor, root)
    polynomial = next
  }
  return polynomial.slice(1)
}

function correctionOf(data: number[], divisor: number[]): number[] {
  const rest: number[] = divisor.map(() => 0)
  for (const word of data) {
    const factor = word ^ (rest.shift() ?? 0)
    rest.push(0)
    for (const [at, coefficient] of divisor.entries())
      rest[at] = (rest[at] ?? 0) ^ multiply(coefficient, factor)
  }
  return rest
}

/** Splits the data into blocks, computes the error correction of each, and interleaves the codewords of all blocks. */
function withCorrection(data: number[], version: number): number[] {
  const { correction, blocks } = blocksOf(version)
  const short = Math.floor(data.length / blocks)
  const longOnes = data.length % blocks
  const divisor = generator(correction)
  let from = 0
  const parts = Array.from({ length: blocks }, (_, at) => {
    const length = short + (at >= blocks - longOnes ? 1 : 0)
    const words = data.slice(from, from + length)
    from += length
    return { words, rest: correctionOf(words, divisor) }
  })
  const inTurn = (lists: number[][]): number[] =>
    Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, at) =>
      lists.flatMap((list) => list[at] ?? []),
    ).flat()
  return [...inTurn(parts.map(({ words }) => words)), ...inTurn(parts.map(({ rest }) => rest))]
}

function drawn(version: number, mask: number): Matrix {
  const size = version * 4 + 17
  const empty = () => Array.from({ length: size }, () => Array.from({ length: size }, () => false))
  const matrix: Matrix = { size, dark: empty(), fixed: empty() }
  const set = (x: number, y: number, isDark: boolean): void => {
    const [row, fixed] = [matrix.dark[y], matrix.fixed[y]]
    if (!row || !fixed || x < 0 || x >= size) return
    row[x] = isDark
    fixed[x] = true
  }
  const square = (x: number, y: number, reach: number, darkAt: (ring: number) => boolean): void => {
    for (let dy = -reach; dy <= reach; dy++)
      for (let dx = -reach; dx <= reach; dx++)
        set(x + dx, y + dy, darkAt(Math.max(Math.abs(dx), Math.abs(dy))))
  }
  for (let at = 0; at < size; at++) {
    set(6, at, at % 2 === 0)
    set(at, 6, at % 2 === 0)
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    square(x, y, 4, (ring) => ring !== 2 && ring !== 4)
  const places = alignmentPlaces(version)
  const last = places.at(-1)
  for (const x of places)
    for (const y of places) {
      const isFinder = (x === 6 && (y === 6 || y === last)) || (x === last && y === 6)
      if (!isFinder) square(x, y, 2, (ring) => ring !== 1)
    }
  drawFormat(size, mask, set)
  if (version >= 7) drawVersion(size, version, set)
  return matrix
}

type Set = (x: number, y: number, isDark: boolean) => void

/** Returns a value followed by its remainder for a polynomial. */
function checked(value: number, degree: number, polynomial: number): number {
  let rest = value
  for (let step = 0; step < degree; step++) rest = (rest << 1) ^ ((rest >> (degree - 1)) * polynomial)
  return (value << degree) | rest
}

/** Level M is encoded as 00, so the format is the number of the mask. */
function drawFormat(size: number, mask: number, set: Set): void {
  const format = checked(mask, 10, 0x537) ^ 0x5412
  for (let bit = 0; bit < 15; bit++) {
    const isDark = ((format >> bit) & 1) === 1
    if (bit < 8) set(8, bit < 6 ? bit : bit + 1, isDark)
    else set(bit === 8 ? 7 : 14 - bit, 8, isDark)
    if (bit < 8) set(size - 1 - bit, 8, isDark)
    else set(8, size - 15 + bit, isDark)
  }
  set(8, size - 8, true)
}

function drawVersion(size: number, version: number, set: Set): void {
  const bits = checked(version, 12, 0x1f25)
  for (let bit = 0; bit < 18; bit++) {
    const isDark = ((bits >> bit) & 1) === 1
    const [near, far] = [Math.floor(bit / 3), size - 11 + (bit % 3)]
    set(far, near, isDark)
    set(near, far, isDark)
  }
}

const MASKS: ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_x, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
]

/** Fills the free modules in columns of two, alternately upwards and downwards from the right, and applies the mask. */
function placeData(
  { size, dark, fixed }: Matrix,
  bits: number[],
  mask: (x: number, y: number) => boolean,
): void {
  let next = 0
  let isUpward = true
  for (let right = size - 1; right >= 1; right -= 2) {
    // The column of the timing pattern holds no data.
    if (right === 6) right = 5
    for (let step = 0; step < size; step++) {
      const y = isUpward ? size - 1 - step : step
      for (const x of [right, right - 1]) {
        const row = dark[y]
        if (!row || fixed[y]?.[x]) continue
        row[x] = ((bits[next++] ?? 0) === 1) !== mask(x, y)
      }
    }
    isUpward = !isUpward
  }
}

/**
 * Returns the penalty for patterns that are hard to scan: long runs, squares of one colour, and too much of one colour.
 */
function penaltyOf(dark: boolean[][]): number {
  const columns = dark.map((_, x) => dark.map((row) => row[x] ?? false))
  let penalty = 0
  for (const line of [...dark, ...columns]) {
    let run = 0
    for (const [at, module] of line.entries()) {
      run = at > 0 && module === line[at - 1] ? run + 1 : 1
      if (run === 5) penalty += 3
      else if (run > 5) penalty += 1
    }
  }
  for (let y = 1; y < dark.length; y++)
    for (let x = 1; x < dark.length; x++) {
      const square = [dark[y]?.[x], dark[y]?.[x - 1], dark[y - 1]?.[x], dark[y - 1]?.[x - 1]]
      if (new Set(square).size === 1) penalty += 3
    }
  const share = dark.flat().filter(Boolean).length / dark.length ** 2
  return penalty + Math.floor(Math.abs(share - 0.5) * 20) * 10
}
