/** A tensor of a model that is stored in its file. */
type Constant = { name: string; dims: number[]; values: Float32Array | BigInt64Array }
type Attribute = number | number[]
type Operation = { type: string; from: string[]; to: string[]; attributes?: Record<string, Attribute> }
type Port = { name: string; type: 'float' | 'int64'; dims: (string | number)[] }

const TYPES = { float: 1, int64: 7 }
const INT = 2
const INTS = 7

/** Returns the file of an ONNX model, which is a message of Protocol Buffers. */
export function onnxModel(graph: {
  operations: Operation[]
  constants: Constant[]
  inputs: Port[]
  outputs: Port[]
}): Buffer {
  return Buffer.concat([
    number(1, 8),
    field(8, text(1, ''), number(2, 17)),
    field(
      7,
      ...graph.operations.map(({ type, from, to, attributes = {} }) =>
        field(
          1,
          ...from.map((name) => text(1, name)),
          ...to.map((name) => text(2, name)),
          text(4, type),
          ...Object.entries(attributes).map(([name, value]) => field(5, text(1, name), attribute(value))),
        ),
      ),
      text(2, 'graph'),
      ...graph.constants.map(({ name, dims, values }) =>
        field(
          5,
          ...dims.map((size) => number(1, size)),
          number(2, values instanceof Float32Array ? TYPES.float : TYPES.int64),
          text(8, name),
          field(9, Buffer.from(values.buffer, values.byteOffset, values.byteLength)),
        ),
      ),
      ...graph.inputs.map((port) => field(11, value(port))),
      ...graph.outputs.map((port) => field(12, value(port))),
    ),
  ])
}

const attribute = (given: Attribute): Buffer =>
  Array.isArray(given)
    ? Buffer.concat([...given.map((each) => number(8, each)), number(20, INTS)])
    : Buffer.concat([number(3, given), number(20, INT)])

function value({ name, type, dims }: Port): Buffer {
  const shape = dims.map((size) => field(1, typeof size === 'number' ? number(1, size) : text(2, size)))
  return Buffer.concat([text(1, name), field(2, field(1, number(1, TYPES[type]), field(2, ...shape)))])
}

function varint(given: number): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(given))
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Buffer.from([...bytes, Number(rest)])
}

const number = (id: number, given: number): Buffer => Buffer.concat([varint(id << 3), varint(given)])
const text = (id: number, given: string): Buffer => field(id, Buffer.from(given))
function field(id: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([varint((id << 3) | 2), varint(body.length), body])
}
