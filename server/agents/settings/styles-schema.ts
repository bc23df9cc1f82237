import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import { Exact, Nullable, OneOf, Subset } from '../../platform/http/contract.ts'
import { SuggestedMessage } from './settings-schema.ts'

const COLOR = '^(transparent|#([0-9a-fA-F]{3}|[0-9a-fA-F]{4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8}))$'
const Color = Type.String({ pattern: COLOR, refusal: 'Must be a hex colour like #1a2b3c, or transparent.' })
const Text = (maxLength: number) => Type.String({ maxLength })
const Seconds = Type.Number({ minimum: 0, maximum: 3600 })

/** A setting for phones: its own value applies while it is enabled, and the general one otherwise. */
const Own = <S extends TSchema>(value: S) => Subset(Exact({ enabled: Type.Boolean(), value }))

const shownThings = {
  theme: OneOf(['light', 'dark', 'auto'], { description: "auto: the theme of the visitor's system" }),
  headerColor: Color,
  userMessageColor: Color,
  buttonColor: Color,
  showFeedback: Type.Boolean(),
  showCopyButton: Type.Boolean(),
  showDictation: Type.Boolean(),
  showAttachments: Type.Boolean(),
  showVoiceMode: Type.Boolean(),
}

const sharedTexts = { messagePlaceholder: Text(200), footer: Text(500), dismissableNotice: Text(500) }

const chatFields = {
  ...shownThings,
  displayName: Text(100),
  autoOpenChatWindowAfter: Nullable(Seconds),
  mobile: Subset(
    Exact({
      initialMessages: Own(Type.Array(Type.String({ minLength: 1, maxLength: 2_000 }), { maxItems: 20 })),
      autoOpenChatWindowAfter: Own(Seconds),
      showAutoOpen: Type.Boolean(),
    }),
  ),
  alignChatButton: OneOf(['left', 'right']),
  ...sharedTexts,
}

const centerStageFields = {
  ...shownThings,
  displayName: Text(100),
  ...sharedTexts,
  enabled: Type.Boolean(),
  welcomeMessage: Text(500),
  suggestedMessages: Type.Array(SuggestedMessage, { maxItems: 50 }),
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
  customSurfaceColors: Subset(Exact({ enabled: Type.Boolean(), background: Color, foreground: Color })),
  notificationIndicator: Subset(
    Exact({ enabled: Type.Boolean(), number: Type.Integer({ minimum: 0, maximum: 99 }) }),
  ),
  notificationMessage: Subset(Exact({ enabled: Type.Boolean(), text: Text(200) })),
  typography: Subset(
    Exact({
      fontFamily: OneOf(['Inter', 'Geist', 'System', 'Arial', 'Helvetica', 'Georgia']),
      fontSize: OneOf(['12px', '14px', '16px', '18px', '20px']),
    }),
  ),
  width: OneOf(['small', 'medium', 'large']),
  closeOnOutsideClick: Type.Boolean(),
}

export const Styles = Exact({ chat: Exact(chatFields), centerStage: Exact(centerStageFields) })

/** null restores the default of a field, a group such as `mobile`, a field of a group, or a whole part. */
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

export const defaultStyles: Static<typeof Styles> = {
  chat: {
    theme: 'light',
    headerColor: '#ffffff',
    userMessageColor: '#2563eb',
    buttonColor: '#2563eb',
    displayName: '',
    autoOpenChatWindowAfter: null,
    mobile: {
      initialMessages: { enabled: false, value: [] },
      autoOpenChatWindowAfter: { enabled: false, value: 0 },
      showAutoOpen: true,
    },
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
    theme: 'light',
    headerColor: '#ffffff',
    userMessageColor: '#2563eb',
    buttonColor: '#111827',
    showFeedback: true,
    showCopyButton: true,
    showDictation: false,
    showAttachments: false,
    showVoiceMode: false,
    displayName: '',
    messagePlaceholder: '',
    footer: '',
    dismissableNotice: '',
    enabled: false,
    welcomeMessage: '',
    suggestedMessages: [],
    showChatBubble: true,
    showDataSource: true,
    tintedGrayscale: { enabled: false, hue: 0, tint: 0, shade: 0 },
    accentColor: { enabled: false, color: '#2563eb' },
    customSurfaceColors: { enabled: false, background: '#ffffff', foreground: '#f3f4f6' },
    notificationIndicator: { enabled: false, number: 0 },
    notificationMessage: { enabled: false, text: '' },
    typography: { fontFamily: 'Inter', fontSize: '16px' },
    width: 'medium',
    closeOnOutsideClick: true,
  },
}
