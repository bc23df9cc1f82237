import type { PDFPageProxy } from 'unpdf/pdfjs'

type Styles = Awaited<ReturnType<PDFPageProxy['getTextContent']>>['styles']
type Font = { name?: unknown; isType3Font?: unknown }

/** The name that the library gives to a font that has none, and the mark of a part of a font, such as "ABCDEF+". */
const UNNAMED = /^Type3$|^g_d\d/
const PART = /^[A-Z]{6}\+/
const MONOSPACED = /mono|courier|consol|typewriter|code/i

/** The fonts of a document, by the names that the library gives them. */
export type PdfFonts = {
  /** Learns the fonts of a page whose texts have these styles. */
  add(page: PDFPageProxy, styles: Styles): Promise<void>
  /** Returns the name of the typeface, or the library's name of a font that has none. */
  nameOf(font: string): string
  isMonospaced(font: string): boolean
}

/**
 * Programs and websites divide a large typeface, such as one with Chinese characters, into dozens of fonts, each with
 * some of its characters, so that the words of one line are in several fonts. They belong together by the typeface that
 * they name, which the library tells only for a page that it has prepared to be drawn. A bold typeface may be drawn by
 * fonts of Type 3 with the name of the regular one.
 */
export function createFonts(): PdfFonts {
  const names = new Map<string, string>()
  const monospaced = new Set<string>()
  return {
    async add(page, styles) {
      const found = Object.keys(styles).filter((font) => !names.has(font))
      if (found.length === 0) return
      // The text can be read without it.
      await page.getOperatorList().catch(() => null)
      for (const font of found) {
        const { name, isType3Font }: Font = page.commonObjs.has(font) ? page.commonObjs.get(font) : {}
        const typeface = typeof name === 'string' && !UNNAMED.test(name) ? name.replace(PART, '') : null
        names.set(font, typeface === null ? font : isType3Font ? `${typeface} (drawn)` : typeface)
        // Fonts of Type 3 count as monospaced because the few characters in each have the same width.
        const isNamedSo = !isType3Font || typeface === null || MONOSPACED.test(typeface)
        if (styles[font]?.fontFamily === 'monospace' && isNamedSo) monospaced.add(font)
      }
    },
    nameOf: (font) => names.get(font) ?? font,
    isMonospaced: (font) => monospaced.has(font),
  }
}
