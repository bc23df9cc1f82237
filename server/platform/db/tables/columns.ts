import type { ColumnType } from 'kysely'

/** Proof that the id came from a verified key or an operator's command. Queries take it instead of a string. */
export type AccountId = string & { readonly brand: 'AccountId' }

/** For an id that was just made, or that an operator has typed. */
export const asAccountId = (id: string): AccountId => id as AccountId

/** A jsonb column, read as a value and written through json(). */
export type Json<T> = ColumnType<T, unknown, unknown>

/** A time that the database sets unless a value is given. */
export type Time = ColumnType<Date, Date | undefined, Date>

export type OptionalId = ColumnType<string | null, string | null | undefined, string | null>

export type OptionalTime = ColumnType<Date | null, Date | null | undefined, Date | null>
