import type { ColumnType } from 'kysely'

/** Proof that the id came from a checked key or an operator's command: queries take it instead of a string. */
export type AccountId = string & { readonly brand: 'AccountId' }

/** A jsonb column: read as a value, written through json(). */
export type Json<T> = ColumnType<T, unknown, unknown>

/** A time the database sets unless told otherwise. */
export type Time = ColumnType<Date, Date | undefined, Date>

export type OptionalId = ColumnType<string | null, string | null | undefined, string | null>

export type OptionalTime = ColumnType<Date | null, Date | null | undefined, Date | null>
