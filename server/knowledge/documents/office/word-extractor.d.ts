declare module 'word-extractor' {
  // biome-ignore lint/style/noDefaultExport: as the package has it
  export default class WordExtractor {
    extract(source: Buffer | string): Promise<{ getBody(): string }>
  }
}
