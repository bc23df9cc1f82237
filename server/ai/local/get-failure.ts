/** Why a model cannot be fetched: a sentence that tells the operator what to do. */
export class GetFailure extends Error {
  override name = 'GetFailure'
}
