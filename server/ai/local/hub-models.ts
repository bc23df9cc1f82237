/** An embedding model that the hub (huggingface.co, or HF_ENDPOINT) has as ONNX, pinned to a revision. */
export type HubModel = {
  /** The name of its folder, by which its prefixes are known. */
  name: string
  repository: string
  revision: string
  files: readonly HubFile[]
  /** Files that the repository lacks and the model needs, by their path in the folder. */
  written: Readonly<Record<string, object>>
  /**
   * The peak of the process that runs it on texts of 512 tokens, and a fifth. Measured for the first model; for the second it
   * is what others have measured (1,130 MB), since its files could not be had where this was written.
   */
  memoryMb: number
}

type HubFile = {
  /** The path in the repository. */
  path: string
  /** The path in the folder. */
  as: string
  bytes: number
  sha256: string
}

/**
 * The hub publishes the SHA-256 of each large file on the file's page (`/{repository}/blob/{revision}/{path}`). Those
 * below are also published by projects that pin the same revisions: of the first model in github.com/RonnyRoscher/NoteEvolution
 * (ModelCatalogTests.cs) and github.com/xcjy8bao/baoer_signal_grep (src/concept-model.ts), of the second in NoteEvolution and,
 * for its tokenizer and settings, in github.com/neocode24/engram (internal/embed/model.go).
 *
 * The quantised variants (8 bit) take a quarter of the disk and memory of the full ones, and less time.
 */
const MULTILINGUAL_E5_SMALL: HubModel = {
  name: 'multilingual-e5-small',
  repository: 'Xenova/multilingual-e5-small',
  revision: '761b726dd34fb83930e26aab4e9ac3899aa1fa78',
  files: [
    {
      path: 'onnx/model_quantized.onnx',
      as: 'model.onnx',
      bytes: 118_308_185,
      sha256: 'f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193',
    },
    {
      path: 'tokenizer.json',
      as: 'tokenizer.json',
      bytes: 17_082_730,
      sha256: '0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39',
    },
    {
      path: 'tokenizer_config.json',
      as: 'tokenizer_config.json',
      bytes: 443,
      sha256: 'a1d6bc8734a6f635dc158508bef000f8e2e5a759c7d92f984b2c86e5ff53425b',
    },
    {
      path: 'config.json',
      as: 'config.json',
      bytes: 658,
      sha256: 'cb99455288675345e1a4f411438d5d0adbba5fbd3a67ea4fb03c015433b996c1',
    },
  ],
  written: {},
  memoryMb: 780,
}

const BGE_M3: HubModel = {
  name: 'bge-m3',
  repository: 'Xenova/bge-m3',
  revision: '4de13258303883538bd53b696b452bf8099f0858',
  files: [
    {
      path: 'onnx/model_quantized.onnx',
      as: 'model.onnx',
      bytes: 569_694_530,
      sha256: '0826f8c1ab9edf1801db86c61919d4d108e8bfc0b809ec823ad366882ff0b77d',
    },
    {
      path: 'tokenizer.json',
      as: 'tokenizer.json',
      bytes: 17_082_821,
      sha256: '6710678b12670bc442b99edc952c4d996ae309a7020c1fa0096dd245c2faf790',
    },
    {
      path: 'tokenizer_config.json',
      as: 'tokenizer_config.json',
      bytes: 1_173,
      sha256: '7e4c1cc848840aeccdd763458c18dd525eb0f795c992e00ebe9c28554e7db2d4',
    },
    {
      path: 'config.json',
      as: 'config.json',
      bytes: 770,
      sha256: '734a79bf12d388c1467a4e3ab625f45de7f6906cffcfb93a1eca1787504bed95',
    },
  ],
  written: { '1_Pooling/config.json': { pooling_mode_cls_token: true } },
  memoryMb: 1_360,
}

/** The models that can be fetched by name. The first is the default. */
export const HUB_MODELS: readonly HubModel[] = [MULTILINGUAL_E5_SMALL, BGE_M3]

export const bytesOf = ({ files }: HubModel): number => files.reduce((sum, { bytes }) => sum + bytes, 0)
