import { csvRow } from '../../server/platform/text/rows/csv-row.ts'
import { call, type OutputOf } from '../app/api.ts'
import { saveFile } from '../app/save-file.ts'

type Contact = OutputOf<'GET', '/agents/{agentId}/contacts/{contactId}'>

/** Saves the listed contacts as a table that can be imported again. Returns their number. */
export async function exportContacts(agentId: string, query: string | undefined): Promise<number> {
  const contacts: Contact[] = []
  for (let cursor: string | undefined; ; ) {
    const { data, pagination } = await call('GET', '/agents/{agentId}/contacts', {
      params: { agentId },
      query: { limit: 100, ...(query && { query }), ...(cursor && { cursor }) },
    })
    contacts.push(...data)
    if (!pagination.hasMore || pagination.cursor === null) break
    cursor = pagination.cursor
  }
  const names = [...new Set(contacts.flatMap(({ customAttributes }) => Object.keys(customAttributes)))]
  const rows = contacts.map(({ externalId, name, email, phoneNumber, customAttributes }) => {
    const values = names.map((key) => customAttributes[key])
    return csvRow([
      externalId,
      name,
      email,
      phoneNumber,
      ...values.map((value) => (value === undefined ? '' : String(value))),
    ])
  })
  const head = csvRow(['Id', 'Name', 'Email', 'Phone', ...names])
  // The byte order mark makes spreadsheets read the text as Unicode.
  saveFile('contacts.csv', [`\uFEFF${head}`, ...rows], 'text/csv')
  return contacts.length
}
