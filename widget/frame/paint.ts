import { contrast, textOn } from '../../server/widget/colours.ts'
import type { Appearance } from './types.ts'

const SURFACES = { light: '#ffffff', dark: '#16181d' }
const TEXTS = { light: '#111827', dark: '#f3f4f6' }
/** What can be told from its ground (WCAG 1.4.11). */
const TELLABLE = 3

/** The agent's colours as properties of the style, by script: the chat's policy allows no others. */
export function paint({ theme, headerColor, userMessageColor }: Appearance['chat']): void {
  const root = document.documentElement
  const surface = SURFACES[theme]
  // The usual white belongs to the light theme.
  const header =
    headerColor === 'transparent' || (theme === 'dark' && isWhite(headerColor)) ? surface : headerColor
  const said = userMessageColor === 'transparent' ? surface : userMessageColor
  const colors = {
    '--header': header,
    '--on-header': textOn(header, surface),
    '--said': said,
    '--on-said': textOn(said, surface),
    '--accent': contrast(said, surface) >= TELLABLE ? said : TEXTS[theme],
    '--on-accent': contrast(said, surface) >= TELLABLE ? textOn(said, surface) : surface,
  }
  root.dataset.theme = theme
  for (const [name, color] of Object.entries(colors)) root.style.setProperty(name, color)
}

const isWhite = (color: string): boolean => /^#f{3,8}$/i.test(color)
