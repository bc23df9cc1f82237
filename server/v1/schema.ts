import Type from 'typebox'
import { type Definition, Exact, endpoint, IsoTime, Nullable } from '../platform/http/contract.ts'

/** Declares an endpoint of version 1, which ignores unknown members. */
export const version1 = <const D extends Definition>(definition: D) =>
  endpoint({ ...definition, unknownFields: 'ignored' as const })

export const ChatbotId = Type.String({ minLength: 1, maxLength: 200 })
/** Endpoints with this tag say what is wrong with a body. */
export const ATTRIBUTES = 'Custom attributes'

export const Said = Exact({ message: Type.String() })

const Day = Type.String({ format: 'date' })

/** The query of lists that are paged by number, newest first. Days are UTC, and the last one is included. */
export const PageQuery = {
  chatbotId: ChatbotId,
  startDate: Type.Optional(Day),
  endDate: Type.Optional(Day),
  page: Type.Integer({ minimum: 1, maximum: 2_147_483_647, default: 1 }),
  size: Type.Integer({ minimum: 1, maximum: 100, default: 10 }),
}

/** A contact's external id is part of paths, in which `.` and `..` would change the path. */
export const ExternalId = Type.String({ minLength: 1, maxLength: 128, pattern: '^(?!\\.{1,2}$)\\P{Cc}+$' })

const contactFields = {
  name: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 200 }))),
  email: Type.Optional(Nullable(Type.String({ format: 'email', maxLength: 254 }))),
  phonenumber: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 50 }))),
  custom_attributes: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({ type: 'object', maxProperties: 500 }),
  ),
}
export const NewContact = Exact({ external_id: ExternalId, ...contactFields })
export const ContactChange = Exact(contactFields)

export const Contact = Exact({
  id: Type.String(),
  external_id: Type.String(),
  name: Nullable(Type.String()),
  email: Nullable(Type.String()),
  phonenumber: Nullable(Type.String()),
  custom_attributes: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  created_at: IsoTime,
  updated_at: IsoTime,
})
