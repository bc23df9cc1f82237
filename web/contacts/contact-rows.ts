import { parseCsv } from './parse-csv.ts'

/** A contact as it is sent for an import. */
type NewContact = Record<string, unknown>
type Column = { heading: string; field: string | null }

const FIELDS: Record<string, RegExp> = {
  externalId: /^(external ?_?id|id|user ?_?id|customer ?_?id)$/i,
  name: /^(full ?_?)?name$/i,
  email: /^e-?mail( ?address)?$/i,
  phoneNumber: /^(phone|mobile|telephone)( ?_?number)?$/i,
}

/**
 * Reads contacts from a CSV file with column names. A column whose name is not a field of contacts holds a custom
 * attribute of that name. Returns null when there are no rows below the names.
 */
export function readContacts(text: string): { columns: Column[]; contacts: NewContact[] } | null {
  const [head, ...rows] = parseCsv(text)
  if (!head || rows.length === 0) return null
  const columns = head.map((heading): Column => {
    const name = heading.trim()
    const field = Object.entries(FIELDS).find(([, pattern]) => pattern.test(name))?.[0] ?? null
    return { heading: name, field }
  })
  const contacts = rows.map((row) => {
    const contact: NewContact = {}
    const attributes: Record<string, string> = {}
    for (const [at, { heading, field }] of columns.entries()) {
      const value = (row[at] ?? '').trim()
      if (value === '' || heading === '') continue
      if (field === null) attributes[heading] = value
      else contact[field] = value
    }
    return Object.keys(attributes).length > 0 ? { ...contact, customAttributes: attributes } : contact
  })
  return { columns, contacts }
}
