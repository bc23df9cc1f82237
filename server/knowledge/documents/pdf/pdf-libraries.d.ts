/** What is used of the libraries. Their own types are large, and check more slowly than the rest of the server. */
declare module 'officeparser' {
  export type OfficeContentNode = { type: string; text?: string; children?: OfficeContentNode[] }
  type OfficeDocument = {
    content: OfficeContentNode[]
    to(format: 'html', config: object): Promise<{ value: unknown }>
  }
  export function parseOffice(file: Buffer, config: object): Promise<OfficeDocument>
}

declare module 'pdfjs-dist/legacy/build/pdf.mjs' {
  type Content = { items: object[]; styles: Record<string, { fontFamily?: string }> }
  export type PdfFont = { name?: string; isType3Font?: boolean; composite?: boolean; toUnicode?: object }
  /** What stands on a page without being part of its content, such as a field of a form. */
  export type PdfAnnotation = {
    subtype?: string
    rect: number[]
    hidden?: boolean
    password?: boolean
    fieldType?: string
    fieldValue?: unknown
    options?: { exportValue: string; displayValue: string }[]
    checkBox?: boolean
    radioButton?: boolean
    exportValue?: string
    buttonValue?: string
    contentsObj?: { str?: string }
    defaultAppearanceData?: { fontSize?: number }
  }
  /** Calls back when the object is there; null when it is damaged. */
  type PdfObjects = { get(id: string, onReady: (object: unknown) => void): void }
  export type PdfImage = {
    width: number
    height: number
    data: Uint8Array | Uint8ClampedArray
    kind?: number
  }
  export type PdfPage = {
    view: number[]
    commonObjs: { has(id: string): boolean; get(id: string): PdfFont } & PdfObjects
    objs: PdfObjects
    getViewport(options: { scale: number }): {
      width: number
      height: number
      transform: [number, number, number, number, number, number]
    }
    getTextContent(): Promise<Content>
    getAnnotations(): Promise<PdfAnnotation[]>
    getOperatorList(): Promise<{ fnArray: number[]; argsArray: (unknown[] | null)[] }>
    cleanup(): void
  }
  export type PdfFile = {
    numPages: number
    getPage(number: number): Promise<PdfPage>
    getMetadata(): Promise<{ info: unknown }>
    getMarkInfo(): Promise<{ Marked?: boolean } | null>
  }
  export const OPS: Record<string, number>
  export function getDocument(source: object): { promise: Promise<PdfFile>; destroy(): Promise<void> }
}
