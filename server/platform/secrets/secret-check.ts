import type { SecretLocation } from './seal.ts'

/** The setting that tells whether a key belongs to this database: a known text, encrypted with it. */
export const CHECK = 'secret-check'
export const CHECK_TEXT = 'parley'
export const CHECK_PLACE: SecretLocation = { table: 'settings', row: CHECK, purpose: 'check' }
