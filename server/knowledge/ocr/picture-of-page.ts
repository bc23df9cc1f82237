import type { PdfImage, PdfPage } from 'pdfjs-dist/legacy/build/pdf.mjs'

/** The numbers of the operators of a page, by name. */
export type Operators = Record<string, number>
export type Grey = { width: number; height: number; pixels: Uint8Array }
type Matrix = readonly [number, number, number, number, number, number]
type Place = { named: unknown; matrix: Matrix; isMask: boolean }
type Placed = Place & { image: PdfImage }

/** More pixels on a side make recognition slower, not better: 300 dots per inch of A4 are 3,508. */
const MAX_SIDE = 3_600
const MIN_SCALE = 150 / 72
const WHITE = 255
/** An image that is not decoded by then is damaged. */
const DECODING_MS = 30_000

/** Returns where the images of a page are, in points from its upper left corner. */
export async function placesOf(page: PdfPage, operators: Operators): Promise<Place[]> {
  const { fnArray, argsArray } = await page.getOperatorList()
  const places: Place[] = []
  const stack: Matrix[] = []
  let matrix: Matrix = page.getViewport({ scale: 1 }).transform
  for (const [at, operator] of fnArray.entries()) {
    const args = argsArray[at] ?? []
    switch (operator) {
      case operators.save:
        stack.push(matrix)
        break
      case operators.paintFormXObjectBegin:
        stack.push(matrix)
        if (isMatrix(args[0])) matrix = times(matrix, args[0])
        break
      case operators.restore:
      case operators.paintFormXObjectEnd:
        matrix = stack.pop() ?? matrix
        break
      case operators.transform:
        if (isMatrix(args)) matrix = times(matrix, args)
        break
      case operators.paintImageXObject:
      case operators.paintInlineImageXObject:
      case operators.paintImageMaskXObject:
        places.push({ named: args[0], matrix, isMask: operator === operators.paintImageMaskXObject })
    }
  }
  return places
}

/** Loads the images of a page; those that are damaged are left out. */
export async function imagesOf(page: PdfPage, places: readonly Place[]): Promise<Placed[]> {
  const images = await Promise.all(places.map(({ named }) => imageOf(page, named)))
  return places.flatMap((place, at) => {
    const image = images[at]
    return image ? [{ ...place, image }] : []
  })
}

async function imageOf(page: PdfPage, named: unknown): Promise<PdfImage | null> {
  const image = typeof named === 'string' ? await stored(page, named) : named
  if (!isImage(image)) return null
  // The data of a mask that is used twice is stored under a name.
  const data = typeof image.data === 'string' ? await stored(page, image.data) : image.data
  if (isImage(data)) return data
  return data instanceof Uint8Array || data instanceof Uint8ClampedArray ? { ...image, data } : null
}

const isImage = (value: unknown): value is PdfImage =>
  typeof value === 'object' && value !== null && 'width' in value && 'data' in value

function stored(page: PdfPage, name: string): Promise<unknown> {
  const objects = name.startsWith('g_') ? page.commonObjs : page.objs
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), DECODING_MS)
    objects.get(name, (value) => {
      clearTimeout(timer)
      resolve(value)
    })
  })
}

/** Returns the share of a page that images cover, at most. */
export function coveredShare({ view }: PdfPage, places: readonly Place[]): number {
  const [left = 0, bottom = 0, right = 0, top = 0] = view
  const covered = places.reduce((sum, { matrix: [a, b, c, d] }) => sum + Math.abs(a * d - b * c), 0)
  return covered / Math.max(1, (right - left) * (top - bottom))
}

/** Draws the images of a page in shades of grey, with as many pixels as the finest of them has. */
export function drawImages(page: PdfPage, images: readonly Placed[]): Grey {
  const { width, height } = page.getViewport({ scale: 1 })
  const finest = Math.max(
    MIN_SCALE,
    ...images.map(({ image, matrix: [a, b] }) => image.width / Math.max(1, Math.hypot(a, b))),
  )
  const scale = Math.min(finest, MAX_SIDE / Math.max(width, height))
  const [columns, rows] = [Math.ceil(width * scale), Math.ceil(height * scale)]
  const grey: Grey = {
    width: columns,
    height: rows,
    pixels: new Uint8Array(columns * rows).fill(WHITE),
  }
  for (const placed of images) draw(grey, placed, scale)
  return grey
}

const scaled = ([a, b, c, d, e, f]: Matrix, by: number): Matrix => [
  a * by,
  b * by,
  c * by,
  d * by,
  e * by,
  f * by,
]

function draw({ width, height, pixels }: Grey, { image, matrix, isMask }: Placed, scale: number): void {
  const [a, b, c, d, e, f] = scaled(matrix, scale)
  const area = a * d - b * c
  if (area === 0) return
  const xs = [e, e + a, e + c, e + a + c]
  const ys = [f, f + b, f + d, f + b + d]
  const [fromX, toX] = [Math.max(0, Math.floor(Math.min(...xs))), Math.min(width, Math.ceil(Math.max(...xs)))]
  const [fromY, toY] = [
    Math.max(0, Math.floor(Math.min(...ys))),
    Math.min(height, Math.ceil(Math.max(...ys))),
  ]
  const shadeAt = shadesOf(image)
  for (let y = fromY; y < toY; y++) {
    for (let x = fromX; x < toX; x++) {
      const [dx, dy] = [x + 0.5 - e, y + 0.5 - f]
      const u = (d * dx - c * dy) / area
      const v = (a * dy - b * dx) / area
      if (u < 0 || u >= 1 || v < 0 || v >= 1) continue
      // The first row of an image is its upper one.
      const shade = shadeAt(Math.floor(u * image.width), Math.floor((1 - v) * image.height))
      if (!isMask || shade === 0) pixels[y * width + x] = shade
    }
  }
}

/** The kinds of the library: 1 is a bit for each pixel, 2 three bytes, 3 four. */
function shadesOf({ width, height, data, kind }: PdfImage): (x: number, y: number) => number {
  const bytes = data.length / (width * height)
  if (kind === 1 || bytes < 1) {
    const row = (width + 7) >> 3
    return (x, y) => (((data[y * row + (x >> 3)] ?? 0) >> (7 - (x & 7))) & 1 ? WHITE : 0)
  }
  const step = kind === 2 ? 3 : kind === 3 ? 4 : Math.round(bytes)
  if (step < 3) return (x, y) => data[(y * width + x) * step] ?? WHITE
  return (x, y) => {
    const at = (y * width + x) * step
    return ((data[at] ?? 0) * 77 + (data[at + 1] ?? 0) * 151 + (data[at + 2] ?? 0) * 28) >> 8
  }
}

const isMatrix = (value: unknown): value is Matrix =>
  (Array.isArray(value) || ArrayBuffer.isView(value)) && (value as ArrayLike<unknown>).length === 6

const times = ([a, b, c, d, e, f]: Matrix, [g, h, i, j, k, l]: Matrix): Matrix => [
  a * g + c * h,
  b * g + d * h,
  a * i + c * j,
  b * i + d * j,
  a * k + c * l + e,
  b * k + d * l + f,
]
