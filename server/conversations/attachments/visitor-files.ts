/** A kind of file that visitors may send: what its content is, and the extensions that such a file may have. */
type Kind = {
  content: RegExp
  extensions: Set<string>
  /** Whether the content alone identifies the kind, so that the name may lack an extension. */
  isClear?: boolean
  /** Whether the format can contain macros; a file that does is not accepted. */
  hasMacros?: (bytes: Buffer) => boolean
}

const words = (text: string): Set<string> => new Set(text.split(' '))

/** The parts of a document that contain macros, by their names in the file. */
const hasVba = (bytes: Buffer): boolean => bytes.includes('_VBA_PROJECT', 0, 'utf16le')
const hasMacroParts = (bytes: Buffer): boolean =>
  bytes.includes('vbaProject.bin') || bytes.includes('Basic/script-lc.xml')

/**
 * XML is missing, because browsers run the scripts in it. Text has no signature, so only its extension shows that it is
 * not a script. Apple's documents, and those whose type is not recognised, have the content of a ZIP archive.
 */
const KINDS: Kind[] = [
  {
    content: /^image\//,
    extensions: words('jpg jpeg jfif png apng gif webp heic heif avif bmp tif tiff'),
    isClear: true,
  },
  {
    content: /^(?:audio|video)\/|^application\/(?:ogg|vnd\.ms-asf)$/,
    extensions: words(
      'mp3 m4a m4b aac ogg oga ogv opus wav flac amr weba caf aif aiff wma mp4 m4v mov webm avi mkv 3gp 3g2 mpg mpeg wmv',
    ),
    isClear: true,
  },
  { content: /^application\/pdf$/, extensions: words('pdf'), isClear: true },
  { content: /^application\/rtf$/, extensions: words('rtf doc') },
  {
    content: /^application\/vnd\.openxmlformats-officedocument\./,
    extensions: words('docx dotx xlsx xltx pptx potx ppsx'),
    hasMacros: hasMacroParts,
  },
  {
    content: /^application\/vnd\.oasis\.opendocument\./,
    extensions: words('odt ott ods ots odp otp odg'),
    hasMacros: hasMacroParts,
  },
  { content: /^application\/x-cfb$/, extensions: words('doc xls ppt pps msg'), hasMacros: hasVba },
  { content: /^application\/zip$/, extensions: words('zip pages numbers key') },
  {
    content: /^application\/zip$/,
    extensions: words('docx xlsx pptx odt ods odp'),
    hasMacros: hasMacroParts,
  },
  {
    content: /^text\/|^application\/json$/,
    extensions: words('txt text md log csv tsv json yaml yml eml ics vcf srt vtt'),
  },
]

/**
 * Returns why visitors may not send a file, or null for one that is accepted: only when its content, whose media type
 * was detected, and its name agree on a kind that is neither a program nor a web page.
 */
export function refusalOf(name: string, mediaType: string, bytes: Buffer): string | null {
  const extension = extensionOf(name)
  const possible = KINDS.filter(({ content }) => content.test(mediaType))
  const kind = possible.find(({ extensions, isClear }) =>
    extension === '' ? isClear === true : extensions.has(extension),
  )
  if (kind?.hasMacros?.(bytes))
    return 'Documents with macros cannot be sent. Save the document without them, or as a PDF.'
  if (kind) return null
  const fitting = possible.flatMap(({ extensions }) => [...extensions])
  const isUnknown = extension !== '' && !KINDS.some(({ extensions }) => extensions.has(extension))
  return isUnknown || fitting.length === 0
    ? 'Files of this kind cannot be sent. Send a picture, a PDF, a document, text, audio, video or a ZIP archive.'
    : `The content of this file does not match its name. The name of such a file may end with ${fitting.map((each) => `.${each}`).join(', ')}.`
}

/** Dots and spaces at the end of a name are left out, because Windows ignores them and would run "a.exe.". */
function extensionOf(name: string): string {
  const trimmed = name.replace(/[.\s]+$/u, '')
  const dot = trimmed.lastIndexOf('.')
  return dot === -1 ? '' : trimmed.slice(dot + 1).toLowerCase()
}
