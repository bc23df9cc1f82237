import Type from 'typebox'
import { Exact, Nullable } from '../../platform/http/contract.ts'

export const attributes = Type.Unsafe<Record<string, unknown>>({ type: 'object', maxProperties: 500 })

/** The fields of a contact that can be changed. */
export const fields = {
  name: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 200 }))),
  email: Type.Optional(Nullable(Type.String({ format: 'email', maxLength: 254 }))),
  phoneNumber: Type.Optional(
    Nullable(
      Type.String({ minLength: 1, maxLength: 50, description: 'Stored as E.164 if it can be parsed' }),
    ),
  ),
  customAttributes: Type.Optional(attributes),
}

export const NewContact = Exact({
  externalId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, pattern: '^(?!\\.{1,2}$)\\P{Cc}+$' }),
  ),
  ...fields,
})
