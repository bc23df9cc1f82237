/** The longest header that is read; a browser names a few languages. */
const MAX_LENGTH = 200

/** Returns the first language that a browser asks for, such as de-AT; null when it names none that exists. */
export function localeOf(acceptLanguage: string | undefined): string | null {
  const first = acceptLanguage?.slice(0, MAX_LENGTH).split(/[,;]/, 1)[0]?.trim() ?? ''
  try {
    const { baseName } = new Intl.Locale(first)
    return baseName
  } catch {
    return null
  }
}
