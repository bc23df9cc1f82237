import { useMemo } from 'react'
import { qrMatrix } from './qr-matrix.ts'

/** The white border that scanners need, in modules. */
const QUIET = 4

/** Draws a text as a QR code, dark on white in every theme. Its modules are 5 pixels wide. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const rows = useMemo(() => qrMatrix(text), [text])
  const size = rows.length + 2 * QUIET
  const path = rows
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x + QUIET} ${y + QUIET}h1v1h-1z`] : [])))
    .join('')
  return (
    <svg role="img" aria-label={label} width={size * 5} height={size * 5} viewBox={`0 0 ${size} ${size}`}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  )
}
