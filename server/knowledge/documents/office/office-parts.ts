import { ExtractFailure } from '../extract-failure.ts'
import { named, xmlOf } from './office-xml.ts'
import { zipDirectory } from './zip-directory.ts'

// A thousand pages of prose are about 10 MB.
const MAX_BYTES = 64 * 1_048_576
const MAX_CORE_LENGTH = 65_536
const CORE = 'docProps/core.xml'

/**
 * Reads the XML parts of an office file by name. Images and embedded files are not read, and a file with a document
 * type declaration, which could define entities, is rejected. Throws ExtractFailure.
 */
export function officeParts(bytes: Uint8Array): Map<string, Uint8Array> {
  const entries = zipDirectory(bytes).filter(({ name }) => /\.(xml|rels)$/i.test(name))
  if (entries.reduce((sum, { size }) => sum + size, 0) > MAX_BYTES)
    throw new ExtractFailure(
      'too_large',
      'This file unpacks to more text than is accepted. Split it into smaller files.',
    )
  const parts = new Map(entries.map((entry) => [entry.name, entry.read()]))
  if ([...parts.values()].some((part) => part.includes('<!DOCTYPE')))
    throw new ExtractFailure(
      'broken',
      'This file contains a declaration that office files must not have. Save it again and retry.',
    )
  return parts
}

/** Returns the title from the properties of an office file. */
export function officeTitle(parts: ReadonlyMap<string, Uint8Array>): string | null {
  const core = parts.get(CORE)
  if (!core || core.length > MAX_CORE_LENGTH) return null
  return named(xmlOf(core), 'dc:title')[0]?.textContent ?? null
}
