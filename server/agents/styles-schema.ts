import Type, { type TObject, type TProperties, type TSchema } from 'typebox'
import { Exact, Nullable, OneOf, Subset } from '../http/contract.ts'

const COLOR = '^(transparent|#([0-9a-fA-F]{3}|[0-9a-fA-F]{4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8}))$'
const Color = Type.String({ pattern: COLOR, refusal: 'Must be a hex colour like #1a2b3c, or transparent.' })
const Text = (maxLength: number) => Type.String({ maxLength })
const Seconds = Type.Number({ minimum: 0, maximum: 3600 })

const sharedTexts = { messagePlaceholder: Text(200), footer: Text(500), dismissableNotice: Text(500) }

const chatFields = {
  theme: OneOf(['light', 'dark']),
  headerColor: Color,
  userMessageColor: Color,
  buttonColor: Color,
  displayName: Text(100),
  autoOpenChatWindowAfter: Nullable(Seconds),
  mobile: Subset(
    Exact({
      initialMessages: Type.Boolean(),
      autoOpenChatWindowAfter: Nullable(Seconds),
      showAutoOpen: Type.Boolean(),
    }),
  ),
  alignChatButton: OneOf(['left', 'right']),
  ...sharedTexts,
  showFeedback: Type.Boolean(),
  showCopyButton: Type.Boolean(),
  showDictation: Type.Boolean(),
  showAttachments: Type.Boolean(),
  showVoiceMode: Type.Boolean(),
}

const centerStageFields = {
  displayName: Text(100),
  ...sharedTexts,
  enabled: Type.Boolean(),
  welcomeMessage: Text(500),
  suggestedMessages: Type.Boolean(),
  showChatBubble: Type.Boolean(),
  showDataSource: Type.Boolean(),
  tintedGrayscale: Subset(
    Exact({
      enabled: Type.Boolean(),
      hue: Type.Number({ minimum: 0, maximum: 360 }),
      tint: Type.Number({ minimum: 0, maximum: 10 }),
      shade: Type.Number({ minimum: 0, maximum: 10 }),
    }),
  ),
  accentColor: Subset(Exact({ enabled: Type.Boolean(), color: Color })),
  typography: Subset(
    Exact({
      fontFamily: OneOf(['Inter', 'System', 'Arial', 'Helvetica', 'Georgia']),
      fontSize: OneOf(['12px', '14px', '16px', '18px', '20px']),
    }),
  ),
  width: OneOf(['small', 'medium', 'large']),
  closeOnOutsideClick: Type.Boolean(),
}

export const Styles = Exact({ chat: Exact(chatFields), centerStage: Exact(centerStageFields) })

/** What is put back to its default is null: a field, a group such as `mobile`, a field of one, or a whole part. */
type Part = Record<string, unknown>
export const StylesChange = Exact({
  chat: Type.Optional(Nullable(Type.Unsafe<Part>(resettable(chatFields)))),
  centerStage: Type.Optional(Nullable(Type.Unsafe<Part>(resettable(centerStageFields)))),
})

function resettable(fields: TProperties): TObject {
  return Exact(
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, Type.Optional(orReset(field))])),
  )
}

function orReset(field: TSchema): TSchema {
  const { type, properties } = field as { type: string | string[]; properties?: TProperties }
  if (properties) return Nullable(resettable(properties))
  return type.includes('null') ? field : Nullable(field)
}

export const defaultStyles = {
  chat: {
    theme: 'light',
    headerColor: '#ffffff',
    userMessageColor: '#2563eb',
    buttonColor: '#111827',
    displayName: '',
    autoOpenChatWindowAfter: null,
    mobile: { initialMessages: true, autoOpenChatWindowAfter: null, showAutoOpen: false },
    alignChatButton: 'right',
    messagePlaceholder: '',
    footer: '',
    dismissableNotice: '',
    showFeedback: true,
    showCopyButton: true,
    showDictation: false,
    showAttachments: false,
    showVoiceMode: false,
  },
  centerStage: {
    displayName: '',
    messagePlaceholder: '',
    footer: '',
    dismissableNotice: '',
    enabled: false,
    welcomeMessage: '',
    suggestedMessages: true,
    showChatBubble: true,
    showDataSource: true,
    tintedGrayscale: { enabled: false, hue: 0, tint: 0, shade: 0 },
    accentColor: { enabled: false, color: '#2563eb' },
    typography: { fontFamily: 'Inter', fontSize: '16px' },
    width: 'medium',
    closeOnOutsideClick: true,
  },
} as const
