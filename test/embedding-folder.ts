import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onnxModel } from './onnx-model.ts'

/** The vectors of the tokens, by their ids. */
const VECTORS = {
  '[PAD]': [9, 9, 9],
  '[UNK]': [0, 0, 1],
  '[CLS]': [0, 0, 2],
  '[SEP]': [0, 0, 4],
  lamp: [3, 0, 0],
  light: [0, 5, 0],
  'query:': [0, 0, 6],
  '##s': [1, 1, 0],
}
const WORDS = Object.keys(VECTORS)
const SPECIAL = WORDS.filter((word) => word.startsWith('['))

/** Returns a new folder with an embedding model that gives each token its vector, and with its tokenizer. */
export function embeddingFolder({
  name = 'tiny',
  runtime = null as string | null,
  model = tinyModel() as Buffer | string,
  files = {} as Record<string, unknown>,
} = {}): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'parley-embedding-')), name)
  mkdirSync(folder)
  if (runtime) symlinkSync(runtime, join(folder, 'node_modules'))
  writeFileSync(join(folder, 'model.onnx'), model)
  for (const [path, content] of Object.entries({ 'tokenizer.json': tokenizer(), ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), JSON.stringify(content))
  }
  return folder
}

export function tinyModel({
  inputs = ['input_ids', 'attention_mask'],
  output = 'last_hidden_state',
  isWhole = false,
} = {}): Buffer {
  const values = Float32Array.from(Object.values(VECTORS).flat())
  const size = values.length / WORDS.length
  const [ids = ''] = inputs
  const tokens = isWhole ? 'tokens' : output
  return onnxModel({
    constants: [{ name: 'vectors', dims: [WORDS.length, size], values }],
    operations: [
      { type: 'Gather', from: ['vectors', ids], to: [tokens] },
      ...(isWhole
        ? [{ type: 'ReduceMax', from: [tokens], to: [output], attributes: { axes: [1], keepdims: 0 } }]
        : []),
    ],
    inputs: inputs.map((port) => ({ name: port, type: 'int64', dims: ['texts', 'tokens'] })),
    outputs: [{ name: output, type: 'float', dims: isWhole ? ['texts', size] : ['texts', 'tokens', size] }],
  })
}

function tokenizer() {
  const idOf = (word: string): number => WORDS.indexOf(word)
  const special = (word: string) => ({ id: word, ids: [idOf(word)], tokens: [word] })
  const flags = { special: true, single_word: false, lstrip: false, rstrip: false, normalized: false }
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: SPECIAL.map((content) => ({ id: idOf(content), content, ...flags })),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { SpecialToken: { id: '[CLS]', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '[SEP]', type_id: 0 } },
      ],
      pair: [],
      special_tokens: { '[CLS]': special('[CLS]'), '[SEP]': special('[SEP]') },
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(WORDS.map((word, id) => [word, id])),
    },
  }
}
