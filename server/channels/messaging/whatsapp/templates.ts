import type { ProviderTemplate, TemplateValues } from '../connection/provider-adapter.ts'
import { type JsonObject, objectOf, objectsIn, text } from '../connection/untrusted-json.ts'

/** The channel has at most a handful of parts in a template, and ten buttons. */
const MAX_PARTS = 20

export function readTemplate(found: JsonObject): ProviderTemplate {
  return {
    id: text(found.id),
    name: text(found.name),
    language: text(found.language),
    category: text(found.category),
    status: text(found.status),
    parameterFormat: text(found.parameter_format) || 'POSITIONAL',
    components: few(found.components).map(({ type, format, text: words, buttons }) => ({
      type: text(type).toUpperCase(),
      ...(typeof format === 'string' ? { format: text(format) } : {}),
      ...(typeof words === 'string' ? { text: text(words) } : {}),
      ...(Array.isArray(buttons)
        ? {
            buttons: few(buttons).map((button) => ({
              type: text(button.type),
              text: text(button.text),
              ...(typeof button.url === 'string' ? { url: text(button.url) } : {}),
            })),
          }
        : {}),
    })),
  }
}

const few = (list: unknown): JsonObject[] => (Array.isArray(list) ? objectsIn(list.slice(0, MAX_PARTS)) : [])

/** Returns the message that sends a template with its values. */
export function templateMessage(
  { name, language, parameterFormat, components }: ProviderTemplate,
  values: TemplateValues,
): JsonObject {
  const isNamed = parameterFormat === 'NAMED'
  const parameters = (given: Record<string, string>): JsonObject[] =>
    Object.entries(given).map(([key, value]) => ({
      type: 'text',
      ...(isNamed ? { parameter_name: key } : {}),
      text: value,
    }))
  const format = components.find(({ type }) => type === 'HEADER')?.format?.toLowerCase() ?? 'text'
  const [link] = Object.values(values.header)
  const header =
    format === 'text' || link === undefined
      ? parameters(values.header)
      : [{ type: format, [format]: { link } }]
  const body = parameters(values.body)
  return {
    type: 'template',
    template: objectOf({
      name,
      language: { code: language },
      components: [
        ...(header.length > 0 ? [{ type: 'header', parameters: header }] : []),
        ...(body.length > 0 ? [{ type: 'body', parameters: body }] : []),
      ],
    }),
  }
}
