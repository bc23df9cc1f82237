import { encodeQR } from 'qr'

/** Draws a text as a QR code, dark on white in every theme. Its modules are 5 pixels wide. */
export function QrCode({ text, label }: { text: string; label: string }) {
  // Scanners need a white border of 4 modules.
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: 4 })
  const path = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  const size = rows.length
  return (
    <svg role="img" aria-label={label} width={size * 5} height={size * 5} viewBox={`0 0 ${size} ${size}`}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path.join('')} fill="#000" shapeRendering="crispEdges" />
    </svg>
  )
}
