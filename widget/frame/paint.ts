import { contrast, textOn } from '../../server/channels/widget/page/colours.ts'
import type { Appearance } from './types.ts'

const SURFACES = { light: '#ffffff', dark: '#16181d' }
const TEXTS = { light: '#111827', dark: '#f3f4f6' }
/** The minimum contrast at which an element is distinguishable from its background (WCAG 1.4.11). */
const TELLABLE = 3

/**
 * Sets the agent's colours as CSS custom properties by script; the chat's content security policy allows no inline
 * styles.
 */
export function paint({ chat, stage }: Pick<Appearance, 'chat' | 'stage'>): void {
  const { theme: wanted, headerColor, userMessageColor } = chat
  const root = document.documentElement
  const theme = wanted === 'auto' ? themeOfSystem() : wanted
  const own = stage?.customSurfaceColors.enabled ? stage.customSurfaceColors : null
  const surface = own ? solid(own.background, SURFACES[theme]) : SURFACES[theme]
  // The default white header is meant for the light theme.
  const header =
    headerColor === 'transparent' || (theme === 'dark' && isWhite(headerColor)) ? surface : headerColor
  const said = userMessageColor === 'transparent' ? surface : userMessageColor
  const accent = stage?.accentColor.enabled ? solid(stage.accentColor.color, said) : said
  const colors = {
    ...(stage ? greysOf(stage, theme) : {}),
    ...(own ? surfacesOf(own.foreground, surface) : {}),
    '--header': header,
    '--on-header': textOn(header, surface),
    '--said': said,
    '--on-said': textOn(said, surface),
    '--accent': contrast(accent, surface) >= TELLABLE ? accent : own ? textOn(surface) : TEXTS[theme],
    '--on-accent': contrast(accent, surface) >= TELLABLE ? textOn(accent, surface) : surface,
  }
  root.dataset.theme = theme
  root.dataset.bubbles = stage?.showChatBubble === false ? 'off' : 'on'
  if (stage) {
    const { fontFamily, fontSize } = stage.typography
    const family = fontFamily === 'System' ? '' : `${fontFamily}, `
    root.style.setProperty(
      '--font',
      `${family}${fontFamily === 'Georgia' ? 'serif' : 'system-ui, sans-serif'}`,
    )
    root.style.setProperty('--font-size', fontSize)
  }
  for (const [name, color] of Object.entries(colors)) root.style.setProperty(name, color)
}

const systemIsDark = matchMedia('(prefers-color-scheme: dark)')
const themeOfSystem = (): 'light' | 'dark' => (systemIsDark.matches ? 'dark' : 'light')

/** Calls `listener` when the system changes between light and dark. */
export const onSystemTheme = (listener: () => void): void => systemIsDark.addEventListener('change', listener)

const isWhite = (color: string): boolean => /^#f{3,8}$/i.test(color)

const solid = (color: string, instead: string): string => (color === 'transparent' ? instead : color)

/** Returns greys tinted with `hue`. `tint` is the saturation of the light greys, `shade` that of the dark ones. */
function greysOf(
  { tintedGrayscale: { enabled, hue, tint, shade } }: NonNullable<Appearance['stage']>,
  theme: 'light' | 'dark',
): Record<string, string> {
  if (!enabled) return {}
  const light = (lightness: number): string => `hsl(${hue} ${tint * 5}% ${lightness}%)`
  const dark = (lightness: number): string => `hsl(${hue} ${shade * 4}% ${lightness}%)`
  return theme === 'light'
    ? { '--raised': light(96), '--raised-more': light(91), '--line': light(91), '--soft-line': light(82) }
    : { '--raised': dark(16), '--raised-more': dark(22), '--line': dark(19), '--soft-line': dark(29) }
}

/**
 * Returns the colours for the owner's custom backgrounds, with readable text on each. `foreground` is the background
 * of the agent's messages.
 */
function surfacesOf(foreground: string, surface: string): Record<string, string> {
  const text = textOn(surface)
  const bubble = solid(foreground, surface)
  const mixed = (share: number): string => `color-mix(in srgb, ${text} ${share}%, ${surface})`
  return {
    '--surface': surface,
    '--raised': mixed(6),
    '--raised-more': mixed(14),
    '--line': mixed(14),
    '--soft-line': mixed(24),
    '--field-line': mixed(50),
    '--text': text,
    '--soft': mixed(75),
    '--bubble': bubble,
    '--on-bubble': textOn(bubble),
  }
}
