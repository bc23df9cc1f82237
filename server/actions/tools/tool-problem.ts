/** Thrown while a tool runs. The message is a sentence that the model may read and pass on. */
export class ToolProblem extends Error {
  override name = 'ToolProblem'
}
