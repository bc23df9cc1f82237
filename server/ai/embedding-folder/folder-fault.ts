/**
 * Why a folder cannot be used as an embedding model. The message continues a sentence that begins with the name of
 * the folder, and says what the operator can do.
 */
export class FolderFault extends Error {
  override name = 'FolderFault'
}
