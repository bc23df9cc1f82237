import Type from 'typebox'
import { Exact, OneOf, Subset } from '../../platform/http/contract.ts'
import { ATTRIBUTES, ChatbotId, version1 } from '../schema.ts'

const list = '/chatbots/{chatbotId}/custom-attributes'

/** service-api, "Version 1 resources". */
const Name = Type.String({ minLength: 1, maxLength: 100, pattern: '^[a-zA-Z][a-zA-Z0-9_-]*$' })

const fields = {
  label: Type.String({ minLength: 1, maxLength: 200 }),
  description: Type.String({ maxLength: 1_000 }),
  archived: Type.Boolean(),
}
const types = OneOf(['text', 'number', 'boolean', 'date'])
const { label, description, archived } = Subset(Exact(fields)).properties

const Attribute = Exact({ name: Type.String(), type: types, ...fields })
const One = Exact({ message: Type.String(), data: Attribute })

export const createAttribute = version1({
  method: 'POST',
  path: list,
  name: 'createAttribute',
  tag: ATTRIBUTES,
  summary: 'Add a custom attribute of contacts',
  scope: 'conversations:write',
  params: Exact({ chatbotId: ChatbotId }),
  body: Exact({ name: Name, type: types, label, description, archived }),
  success: { status: 201, schema: One },
  errors: ['RESOURCE_DUPLICATE'],
})

export const listAttributes = version1({
  method: 'GET',
  path: list,
  name: 'listAttributes',
  tag: ATTRIBUTES,
  summary: 'List custom attributes, oldest first',
  scope: 'conversations:read',
  params: Exact({ chatbotId: ChatbotId }),
  success: { status: 200, schema: Exact({ message: Type.String(), data: Type.Array(Attribute) }) },
})

export const updateAttribute = version1({
  method: 'PUT',
  path: `${list}/{name}`,
  name: 'updateAttribute',
  tag: ATTRIBUTES,
  summary: 'Change a custom attribute, except its name and type',
  scope: 'conversations:write',
  params: Exact({ chatbotId: ChatbotId, name: Type.String({ minLength: 1 }) }),
  body: Exact({
    name: Type.Optional(Name),
    type: Type.Optional(types),
    label,
    description,
    archived,
  }),
  success: { status: 200, schema: One },
})
